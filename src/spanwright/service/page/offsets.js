// Offsets of the service count Unicode code points; strings of JavaScript count UTF-16 units.

/** A function from offsets in code points to offsets in units of the text. */
export function unitsOf(text) {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (offset) => offset;
  const starts = new Uint32Array(text.length + 1);
  let points = 0;
  for (let unit = 0; unit < text.length; unit += text.codePointAt(unit) > 0xffff ? 2 : 1) starts[points++] = unit;
  starts[points] = text.length;
  return (offset) => starts[offset];
}

/** How many code points a text has. */
export function pointsIn(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
