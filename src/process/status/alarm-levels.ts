// When a figure of a server is a matter for its operator, and what to do: one table for /status (status.ts) and for the rules of Prometheus
// (alerts.ts).

export type LimitName =
  | 'event_loop'
  | 'memory'
  | 'listening'
  | 'waits'
  | 'streams'
  | 'wakes'
  | 'index'
  | 'telling'
  | 'notices'
  | 'jobs'
  | 'failures'
  | 'database'
  | 'disk'
  | 'runners'
  | 'instances'

export interface Limit {
  name: LimitName
  title: string
  /** From these on the figure is amber or red; downwards where less is `worse`. Without one there is no such level. */
  amber?: number
  red?: number
  worse: 'more' | 'less'
  todo: string
  /** The same figure for Prometheus, and for how many minutes it must stay there. */
  alert?: { name: string; expr: string; minutes: number }
}

const MIB = 1024 ** 2

export const LIMITS: readonly Limit[] = [
  {
    name: 'event_loop',
    title: 'Event loop delay',
    amber: 0.25,
    red: 1,
    worse: 'more',
    todo: 'Calls wait while the process computes. Look for a large import or a busy machine; give it a core of its own, or a second instance on Postgres.',
    alert: { name: 'ParleyEventLoopSlow', expr: 'parley_event_loop_lag_seconds', minutes: 2 },
  },
  {
    name: 'memory',
    title: 'Memory',
    amber: 1024 * MIB,
    red: 2048 * MIB,
    worse: 'more',
    todo: 'More than any load that was measured. Restart it when that suits; lower MAX_WAITS and MAX_STREAMS if they are used up.',
    alert: { name: 'ParleyMemoryHigh', expr: 'parley_resident_bytes', minutes: 5 },
  },
  {
    name: 'listening',
    title: 'Hears other instances',
    red: 0,
    worse: 'less',
    todo: 'Notifications of Postgres do not come through, and wakes take seconds. If DATABASE_URL names a pooler, use a direct connection or session mode.',
    alert: { name: 'ParleyNotListening', expr: 'parley_listening', minutes: 1 },
  },
  {
    name: 'waits',
    title: 'Held waits',
    amber: 0.9,
    red: 1,
    worse: 'more',
    todo: 'At the limit more are refused. Raise MAX_WAITS (and the limit of open files), or start a second instance on Postgres.',
    alert: { name: 'ParleyWaitsNearLimit', expr: '(parley_waits_held + parley_peeks_held) / parley_max_waits', minutes: 1 },
  },
  {
    name: 'streams',
    title: 'Open streams',
    amber: 0.9,
    red: 1,
    worse: 'more',
    todo: 'At the limit more are refused. Raise MAX_STREAMS (and the limit of open files), or start a second instance on Postgres.',
    alert: { name: 'ParleyStreamsNearLimit', expr: 'parley_streams_open / parley_max_streams', minutes: 1 },
  },
  {
    name: 'wakes',
    title: 'Waits answered, 99 of 100',
    amber: 0.25,
    red: 1,
    worse: 'more',
    todo: 'From an event to the answer of a wait or held peek. Look at the event loop and the database first.',
    alert: { name: 'ParleyWakesSlow', expr: 'histogram_quantile(0.99, rate(parley_wake_seconds_bucket[5m]))', minutes: 2 },
  },
  {
    name: 'index',
    title: 'Search index behind',
    amber: 30,
    red: 900,
    worse: 'more',
    todo: 'Searches do not find what was written since. After a large import it catches up by itself; if it does not, the log says why.',
    alert: { name: 'ParleySearchIndexBehind', expr: 'parley_search_index_lag_seconds', minutes: 5 },
  },
  {
    name: 'telling',
    title: 'Telling people',
    amber: 1,
    worse: 'more',
    todo: 'People are not told there. The log says what was answered; test NOTIFY_URL and browsers at /settings#notifications. An instance says what it met itself, until it has told somebody there, or for a day.',
    alert: { name: 'ParleyTellingFails', expr: 'parley_notice_places_failing', minutes: 1 },
  },
  {
    name: 'notices',
    title: 'Notices given up',
    amber: 1,
    worse: 'more',
    todo: 'People were not told. Test NOTIFY_URL and browsers at /settings#notifications; the log says what was answered.',
    alert: { name: 'ParleyNoticesFailing', expr: 'increase(parley_notices_total{outcome="failed"}[5m])', minutes: 0 },
  },
  {
    name: 'jobs',
    title: 'Background jobs',
    amber: 1,
    worse: 'more',
    todo: 'What they do waits until they work: they are tried again by themselves. Look at the database first; the log says why they fail.',
    alert: { name: 'ParleyJobsFailing', expr: 'parley_jobs_failing', minutes: 5 },
  },
  {
    name: 'failures',
    title: 'Calls that failed',
    amber: 1,
    red: 20,
    worse: 'more',
    todo: 'The database was away, refused to write (its disk may be full) or took too long, or this server failed. The log says why; callers were told to try again.',
    alert: { name: 'ParleyCallsFailing', expr: 'increase(parley_calls_failed_total[5m])', minutes: 0 },
  },
  {
    name: 'database',
    title: 'Database answers',
    amber: 0.25,
    red: 2,
    worse: 'more',
    todo: 'Every call waits for it. Check that it runs, its load and its disk; while it is away callers get 503 and try again.',
    alert: { name: 'ParleyDatabaseSlow', expr: 'parley_database_answer_seconds', minutes: 1 },
  },
  {
    name: 'disk',
    title: 'Disk of DATA_DIR',
    amber: 1024 * MIB,
    red: 256 * MIB,
    worse: 'less',
    todo: 'Below 64 MiB nothing is written, and nothing can be purged. Make room on it, or move the folder to a larger disk. `bun run purge` makes room for what comes, and gives none back to the disk.',
    alert: { name: 'ParleyDiskFull', expr: 'parley_disk_free_bytes', minutes: 5 },
  },
  {
    name: 'runners',
    title: 'Lost runners',
    amber: 1,
    worse: 'more',
    todo: 'They went away while a task ran, or prompts wait for them. Start them again where they ran. /worktrees has their names and when they were seen last.',
  },
  {
    name: 'instances',
    title: 'Silent instances',
    amber: 1,
    worse: 'more',
    todo: 'They listen on the database and do not answer: frozen, or of a version before this page. Restart them, or update them.',
  },
]

export const limitOf = (name: LimitName): Limit => LIMITS.find((limit) => limit.name === name)!

export type Level = 'green' | 'amber' | 'red'

/** How a figure stands to its limit. What is no number (nothing was measured yet) is green. */
export const levelOf = ({ amber, red, worse }: Limit, figure: number): Level => {
  const reached = (limit: number | undefined) => limit !== undefined && (worse === 'more' ? figure >= limit : figure <= limit)
  return reached(red) ? 'red' : reached(amber) ? 'amber' : 'green'
}
