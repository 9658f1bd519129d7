# The same start as on a host. Mount /app/data to keep the embedded database, or set DATABASE_URL.
FROM oven/bun:1.4.5
WORKDIR /app
COPY . .
RUN bun install --frozen-lockfile && bun run styles
ENV HOST=0.0.0.0
EXPOSE 7423
CMD ["bun", "run", "start"]
