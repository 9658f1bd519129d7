/** Says that the page is not up to date (public/live/bar.js), at the upper edge of what it is in. */
export const Reconnecting = () => (
  <p
    id="reconnecting"
    role="status"
    hidden
    className="absolute inset-x-0 top-0 z-10 border-b bg-warn/15 px-4 py-1 text-center text-[12px] text-warn-foreground backdrop-blur-sm"
  >
    <span>Reconnecting…</span>{' '}
    <button type="button" className="cursor-pointer font-medium underline underline-offset-2">
      Retry now
    </button>
  </p>
)
