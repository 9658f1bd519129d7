// Unlike a refresh by the page's markup, this keeps the fragment of the address.
location.reload()
