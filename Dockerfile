# The service on the runtime without torch: a slim Python, no compiler, no root, and a model that is only read.
#
#   spanwright export runs/plain/model --out exported
#   docker build -t spanwright .
#   docker run --read-only --tmpfs /tmp -p 8000:8000 -v "$PWD/exported:/model:ro" \
#       -v "$PWD/token:/run/secrets/token:ro" spanwright
#
# docs/deploy.md has the rest; tests/service/test_deployment.py takes the same steps in a virtual environment.

FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
# Wheels alone: nothing is compiled, and an image that would need a compiler is not built.
RUN python -m venv /opt/spanwright \
    && /opt/spanwright/bin/pip install --no-cache-dir -c constraints.txt hatchling editables \
    && /opt/spanwright/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation -w /wheels . \
    && /opt/spanwright/bin/pip uninstall --yes hatchling editables \
    && /opt/spanwright/bin/pip install --no-cache-dir --only-binary :all: -c constraints.txt "$(ls /wheels/*.whl)[serve]"

FROM python:3.11-slim
COPY --from=build /opt/spanwright /opt/spanwright
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin spanwright
USER 10001
ENV PATH=/opt/spanwright/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/ready', timeout=2)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["spanwright", "serve"]
CMD ["/model", "--host", "0.0.0.0", "--token-file", "/run/secrets/token"]
