/** Where a page of a list ended: the time by which the list is ordered, and the id, of its last row. */
export interface ListPosition {
  at: string
  id: string
}
