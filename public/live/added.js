/** What is typed while a message or a prompt is under way: the answer to it is a form in the place of its own. That is empty where the text was
 *  taken, and goes on with what was added to it, before or behind; else it has the text as it was sent, which stays. A text that was changed
 *  otherwise stays whole. */
export const keepAdded = () => {
  const fieldOf = ({ sourceElement, target }) =>
    sourceElement === target && target?.matches?.('form') ? target.querySelector('textarea') : undefined

  const withoutSent = (typed, sent) => {
    if (typed.startsWith(sent)) return typed.slice(sent.length).trim()
    return typed.endsWith(sent) ? typed.slice(0, -sent.length).trim() : typed
  }

  document.addEventListener('htmx:before:request', ({ detail: { ctx } }) => void (ctx.sent = fieldOf(ctx)?.value))
  document.addEventListener('htmx:before:swap', ({ detail: { ctx, tasks } }) => {
    const { sent } = ctx
    const typed = fieldOf(ctx)?.value
    const next = tasks.find(({ target }) => target === ctx.target)?.fragment.querySelector('textarea')
    if (sent === undefined || typed === undefined || typed === sent || !next) return // nothing is known of what was sent before this ran
    if (!next.value) next.value = withoutSent(typed, sent)
    else next.value = typed.includes(sent) ? typed : `${sent}\n\n${typed}`.trim()
  })
}
