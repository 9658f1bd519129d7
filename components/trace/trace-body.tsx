import { escaped, highlight } from '../../src/markdown/highlight.ts'
import { MARKDOWN } from '../../src/core/events/event-types.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Markdown } from '../parts/markdown.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { eventHref, eventText, LONGEST_EVENT, type Field, type TraceEvent } from './trace-view.ts'

interface Props {
  session: string
  event: TraceEvent
}

/** The text and fields of an event; of a long event the beginning, with a link to the rest. */
export const TraceBody = ({ session, event }: Props) => {
  const { sequence, kind, text, fields } = event
  return (
    <div id={`b${sequence}`} data-piece="">
      {text &&
        (MARKDOWN.has(kind) ? (
          <Markdown text={text} className={kind === 'reasoning' ? 'text-muted-foreground [--tw-prose-body:var(--muted-foreground)]' : ''} />
        ) : (
          <pre tabIndex={0} className={MONO}>
            {escapeInvisible(text)}
          </pre>
        ))}
      {fields.length > 0 && <Fields fields={fields} />}
      {text === '' && fields.length === 0 && <p className="text-[12.5px] text-muted-foreground">No further details were recorded.</p>}
      {event.cut && <Rest session={session} event={event} />}
    </div>
  )
}

const MONO =
  'thin-scroll max-h-[min(28rem,70dvh)] overflow-auto rounded-md border bg-code px-3 py-2 font-mono text-[12px] leading-[1.55] text-foreground'

const Fields = ({ fields }: { fields: Field[] }) => (
  <dl className="grid grid-cols-[minmax(0,1fr)] gap-1 not-first:mt-1.5">
    {fields.map(({ name, value, json }, i) => (
      <div key={i} className={isShort(value) ? 'flex items-baseline gap-2' : undefined}>
        <dt className="mb-0.5 shrink-0 font-mono text-[11px] text-muted-foreground">{escapeInvisible(name) || 'arguments'}</dt>
        <dd className="min-w-0">
          {isShort(value) ? (
            <code className="font-mono text-[12px] text-foreground wrap-anywhere">{escapeInvisible(value)}</code>
          ) : (
            <pre tabIndex={0} className={MONO} dangerouslySetInnerHTML={{ __html: coloured(escapeInvisible(value), json) }} />
          )}
        </dd>
      </div>
    ))}
  </dl>
)

const ONE_LINE = 72
const isShort = (value: string) => value.length <= ONE_LINE && !value.includes('\n')

// Only JSON is coloured: in a command, flags would pass for comments.
const coloured = (text: string, json: boolean) => (json ? highlight(text) : escaped(text))

const Rest = ({ session, event: { turn, sequence, characters } }: Props) => {
  const count = characters.toLocaleString('en')
  const link = 'mt-1.5 inline-block text-[12.5px] font-medium'
  return characters > LONGEST_EVENT ? (
    <TextLink href={eventText(session, sequence)} className={link}>
      Open all {count} characters as text
    </TextLink>
  ) : (
    <TextLink href={eventHref(session, turn, sequence)} data-part="event" className={link}>
      Show all {count} characters
    </TextLink>
  )
}
