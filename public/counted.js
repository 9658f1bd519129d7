// The number that waits for a person stands in the title of the pages that are about it, and changes with the link in the header.
{
  const link = document.getElementById('approvals-link')
  const count = () => {
    const title = document.title.replace(/^\(\d+\) /, '')
    document.title = link.dataset.waiting === '0' ? title : `(${link.dataset.waiting}) ${title}`
  }
  if (link && ['/', '/approvals'].includes(location.pathname))
    new MutationObserver(count).observe(link, { attributeFilter: ['data-waiting'] })
}
