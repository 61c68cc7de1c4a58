"""A model as a folder for any web server: the page of the service, which tags on the reader's own machine."""
