# The same start as on a host, as a user without rights (bun, 1000). The embedded database is in the volume; or set DATABASE_URL.
FROM oven/bun:1.4.5
WORKDIR /app
RUN chown bun:bun .
USER bun
COPY --chown=bun:bun . .
RUN bun install --frozen-lockfile && bun run styles && mkdir -m 700 data
ENV HOST=0.0.0.0
EXPOSE 7423
VOLUME /app/data
HEALTHCHECK --start-period=60s CMD ["bun", "-e", "process.env.NO_PROXY = process.env.no_proxy = '127.0.0.1'; process.exit((await fetch('http://127.0.0.1:' + (process.env.PORT || 7423) + '/healthz')).ok ? 0 : 1)"]
CMD ["bun", "run", "start"]
