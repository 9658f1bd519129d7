/** Says to public/approvals.js what of the inbox the page shows: all of it, one session's, or one proposal. */
export const InboxMark = ({ meeting, only }: { meeting?: string | undefined; only?: string }) => (
  <div id="inbox" data-meeting={meeting} data-only={only} hidden />
)
