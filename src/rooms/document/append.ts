// Text that is appended to the document.
import { closingOf, withBlockClosed } from '../../markdown/headings.ts'
import { conclusionIn } from './conclusion.ts'

/** The document with `text` on a new line at its end; where it ends with its conclusion, before that, because the next conclusion takes
 *  the place of all that stands in the section. A conclusion that the text brings goes behind the one that is there. */
export const withAppended = (doc: string, text: string): string => {
  const lines = doc.split('\n')
  const conclusion = conclusionIn(doc)
  if (conclusion?.to !== lines.length) return onNewLine(doc, text)
  const given = text.split('\n')
  const own = conclusionIn(text)?.from ?? given.length
  const before = lines.slice(0, conclusion.from).join('\n').trimEnd()
  const after = lines.slice(conclusion.from).join('\n')
  const ending = own < given.length ? `${withBlockClosed(after.trimEnd())}\n\n${given.slice(own).join('\n')}` : after
  const joined = (gap: string) => {
    const longer = withBlockClosed(onNewLine(before + gap, gap + given.slice(0, own).join('\n')).trimEnd())
    const head = longer && `${longer}\n\n`
    return { text: head + ending, isKept: conclusionIn(head + ending)?.from === head.split('\n').length - 1 }
  }
  // A blank line ends a block of HTML, and a table, whose next rows would else be what the text has for a heading's underline.
  const close = closingOf(before) === '' ? joined('\n') : joined('')
  return close.isKept ? close.text : joined('\n').text
}

const onNewLine = (doc: string, text: string) => (doc === '' || doc.endsWith('\n') ? doc + text : `${doc}\n${text}`)
