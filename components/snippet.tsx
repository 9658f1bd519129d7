import { cn } from './cn.ts'
import { Icon } from './icon.tsx'

/** Something to copy. The button appears where the small script runs; without it the text can still be selected. */
export const Snippet = ({ label, code, className }: { label: string; code: string; className?: string }) => (
  <figure className={cn('min-w-0 overflow-hidden rounded-lg border text-left', className)}>
    <figcaption className="flex h-8 items-center border-b bg-muted/60 pr-1 pl-3 text-[12px] font-medium text-foreground">
      {label}
      <button
        type="button"
        data-copy=""
        hidden
        aria-label={`Copy: ${label}`}
        title="Copy"
        className="ml-auto size-6 cursor-pointer grid place-items-center rounded-md text-muted-foreground hover:bg-accent hover:text-foreground"
      >
        <Icon name="copy" className="size-3.5" />
      </button>
    </figcaption>
    <pre className="px-3 py-2.5 font-mono text-[12px] leading-relaxed whitespace-pre-wrap [text-wrap-style:auto] text-foreground wrap-anywhere">
      {code}
    </pre>
  </figure>
)
