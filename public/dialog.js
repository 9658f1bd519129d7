// The page's dialog, for those who may act. typed.js, which keeps their text elsewhere, is loaded once they are in a form.
const loadTyped = ({ target }) => {
  if (!target.closest('form')) return
  removeEventListener('focusin', loadTyped)
  document.head.append(Object.assign(document.createElement('script'), { src: '/public/typed.js' }))
}
addEventListener('focusin', loadTyped)
loadTyped({ target: document.activeElement })

// The page's dialog: a form is loaded into it, and it closes when the form was applied, which an empty response tells. Text that was typed and
// not sent is restored when the same form is opened again, however the dialog was closed.
{
  const dialog = document.getElementById('dialog')

  if (dialog) {
    const typed = {} // by the form's address and the field's id; radio buttons have a name alone
    const keptOf = (form) => (typed[form.getAttribute('action')] ??= {})
    const stateOf = ({ type }) => (type === 'checkbox' ? 'checked' : 'value')

    // The event does not bubble, because nobody has typed anything.
    const preview = (form) => form.querySelector('[hx-trigger]')?.dispatchEvent(new Event('input'))

    const open = (form) => {
      const kept = Object.entries(keptOf(form)).filter(([id, left]) => {
        const field = form.elements[id] // none: the form has it no more. One radio button: no choice is left
        return field && field.type !== 'radio' && field[stateOf(field)] !== (field[stateOf(field)] = left)
      })
      form.querySelector('[data-kept]').hidden = kept.length === 0
      dialog.showModal()
      if (kept.length > 0) preview(form)
    }
    const done = ({ form }) => {
      delete typed[form?.getAttribute('action')]
      dialog.close()
      dispatchEvent(new Event('reconnect')) // the stream of a concluded session has ended
    }
    const startOver = ({ target: form }) => {
      delete typed[form.getAttribute('action')]
      form.querySelector('[data-kept]').hidden = true
      form.querySelector('[autofocus]')?.focus()
      setTimeout(() => preview(form)) // the fields are reset after this event
    }
    const keep = ({ target: field }) => field.form && field.name && (keptOf(field.form)[field.id || field.name] = field[stateOf(field)])

    document.addEventListener('htmx:after:swap', ({ detail: { ctx } }) => {
      if (ctx.target !== dialog) return
      if (!dialog.firstElementChild) done(ctx.request)
      else if (!dialog.open) open(dialog.querySelector('form'))
    })
    // Cancel closes the dialog, and sends nothing.
    const cancel = (event) => event.submitter?.formMethod === 'dialog' && event.stopPropagation()
    document.addEventListener('submit', cancel, { capture: true })
    dialog.addEventListener('input', keep)
    dialog.addEventListener('reset', startOver)
  }
}
