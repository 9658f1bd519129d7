import { cn } from './cn.ts'
import { Icon } from './icon.tsx'

interface Props {
  label: string
  code: string
  /** Sentences for a person: their lines break. */
  sentences?: boolean
  className?: string
}

/** Something to copy. The lines of a configuration stay whole, and scroll; those of a command break, so that all of it is seen. The button
 *  appears where the small script runs; without it the text can still be selected. */
export const Snippet = ({ label, code, sentences = false, className }: Props) => (
  <figure className={cn('min-w-0 overflow-hidden rounded-lg border text-left text-wrap', className)}>
    <figcaption className="flex min-h-8 items-center gap-2 border-b bg-muted/60 py-1 pr-1 pl-3 text-[12px] font-medium text-foreground">
      {label}
      <button
        type="button"
        data-copy=""
        hidden
        aria-label={`Copy: ${label}`}
        title="Copy"
        className="ml-auto size-6 shrink-0 cursor-pointer grid place-items-center rounded-md text-muted-foreground hover:bg-accent hover:text-foreground"
      >
        <Icon name="copy" className="size-3.5" />
      </button>
    </figcaption>
    <pre
      tabIndex={!sentences && hasLines(code) ? 0 : undefined}
      className={cn(
        'px-3 py-2.5 font-mono text-[12px] leading-relaxed text-foreground',
        !sentences && hasLines(code) ? 'thin-scroll overflow-x-auto whitespace-pre -outline-offset-2' : 'whitespace-pre-wrap wrap-anywhere',
      )}
    >
      {code}
    </pre>
  </figure>
)

// Other than those of a command, which a backslash joins.
const hasLines = (code: string) => /[^\\]\n/.test(code)
