// Once a question is answered, the page's address names it no more: loaded again, the page would have the next message answer it as well.
export const forgetAnswered = () =>
  document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
    const address = new URL(location)
    const { id } = ctx.sourceElement ?? {}
    if (!(ctx.response?.status < 400)) return // not taken: the question is open
    if (id !== 'composer' || !address.searchParams.has('answer') || document.querySelector('#composer [name=reply_to]')) return
    address.searchParams.delete('answer')
    history.replaceState(history.state, '', address)
  })
