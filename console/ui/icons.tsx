// The console's icons: strokes of one width on a grid of 24, in the colour of the text beside them. They say nothing that a
// word beside them doesn't say, so screen readers skip them.
const paths = {
  add: 'M12 5v14M5 12h14',
  agents: 'M12 3v3M6 9h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2ZM9 14h.01M15 14h.01',
  alert: 'M12 8v5M12 16.5h.01M10.3 4 2.7 17.4A2 2 0 0 0 4.4 20.4h15.2a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0Z',
  apps: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  back: 'M15 6l-6 6 6 6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  chevron: 'M7 9.5l5 5 5-5',
  client: 'M4 5h16v11H4zM9 20h6M12 16v4',
  close: 'M6 6l12 12M18 6L6 18',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20l1-4L16 5l3 3L8 19l-4 1ZM14 7l3 3',
  events: 'M5 4h14v16H5zM9 8h6M9 12h6M9 16h3',
  flow: 'M6 4v6a3 3 0 0 0 3 3h6a3 3 0 0 1 3 3v4M6 4l-2 3M6 4l2 3M18 20l-2-3M18 20l2-3',
  group:
    'M9 11a3.2 3.2 0 1 0 0-6.400 3.200 3.200 0 0 0 0 6.400ZM3 20c0-3.300 2.700-5.500 6-5.500s6 2.200 6 5.500M16 5.200a3.200 3.200 0 0 1 0 5.700M18 14.900c1.900.8 3 2.600 3 5.100',
  help: 'M9.500 9.500a2.500 2.500 0 1 1 3.600 2.200c-.7.400-1.100 1-1.100 1.800M12 16.500h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  history: 'M4 12a8 8 0 1 0 2.500-5.800M4 4v4h4M12 8v4l3 2',
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  idp: 'M14 4h6v6M20 4l-8 8M10 5H5v14h14v-5',
  info: 'M12 11v5M12 8h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  key: 'M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 11h9M18 11v3',
  mail: 'M4 6h16v12H4zM4 7l8 6 8-6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M4.500 12h1M11.500 12h1M18.500 12h1',
  org: 'M4 20V6l8-3v17M12 9h8v11M8 9h.01M8 13h.01M16 13h.01M16 16.500h.01M2 20h20',
  pin: 'M9 4h6l-1 6 3 3H7l3-3-1-6ZM12 13v7',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  realm: 'M12 3l8 4v5c0 4.500-3.300 7.800-8 9-4.700-1.200-8-4.500-8-9V7z',
  role: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20c.5-3.500 3.300-5.500 7-5.500M15 19l2 2 4-4.500',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l4.500 4.500',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 9.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400ZM9 19.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400Z',
  signOut: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  text: 'M5 6V4h14v2M12 4v16M9 20h6',
  user: 'M12 11.500a3.700 3.700 0 1 0 0-7.500 3.700 3.700 0 0 0 0 7.500ZM4.500 20c.4-3.700 3.400-5.700 7.500-5.700s7.100 2 7.500 5.700',
  webhook: 'M4 12h5l2-5 3 11 2-6h4',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
