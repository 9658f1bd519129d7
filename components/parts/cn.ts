import { clsx, type ClassValue } from 'clsx'
import { twMerge } from 'tailwind-merge'

/** Class names together; of two that contradict each other the later one counts. */
export const cn = (...names: ClassValue[]) => twMerge(clsx(names))
