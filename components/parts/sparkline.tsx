const STEP = 4
const HEIGHT = 16

/** Activity over time: a bar for each slot, a dot for a slot without messages. */
export const Sparkline = ({ pulses }: { pulses: number[] }) => {
  const most = Math.max(1, ...pulses)
  const bars = pulses.map((n, i) => (n > 0 ? `M${i * STEP + 1.5} ${HEIGHT}v${-Math.max(2, Math.round((n / most) * HEIGHT))}` : '')).join('')
  const dots = pulses.map((n, i) => (n === 0 ? `M${i * STEP + 0.75} ${HEIGHT - 0.5}h1.5` : '')).join('')
  return (
    <svg
      viewBox={`0 0 ${pulses.length * STEP} ${HEIGHT}`}
      aria-hidden="true"
      className="h-4 w-20 shrink-0 fill-none text-brand/75 max-md:hidden"
    >
      <path d={dots} className="stroke-off" strokeWidth="1" />
      <path d={bars} stroke="currentColor" strokeWidth="2.4" />
    </svg>
  )
}
