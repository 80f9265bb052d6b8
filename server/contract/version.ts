/** The release, as `GET /actuator/info`, the documentation of the API and the logs name it. */
export const VERSION = '0.1.0';
