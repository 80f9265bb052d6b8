// What messages say in Spanish.
import type { MessageWords } from '../words.ts';

export const words: MessageWords = {
  templates: {
    'otp-sms': { subject: null, body: '{{code}} es su código para {{realm}}. Validez: {{ttl}}.' },
    'otp-email': {
      subject: '{{code}} es su código para {{realm}}',
      body: `Hola, {{user}}:

Su código para {{realm}} es

    {{code}}

Validez: {{ttl}}. Si no está iniciando sesión en este momento, ignore este mensaje y no dé el código a nadie.
`,
    },
    'magic-link-email': {
      subject: 'Iniciar sesión en {{realm}}',
      body: `Hola, {{user}}:

Abra este enlace en el navegador en el que lo pidió y habrá iniciado sesión en {{realm}}:

{{link}}

Funciona una sola vez. Validez: {{ttl}}. Si no lo pidió, ignore este mensaje.
`,
    },
    'verify-email': {
      subject: 'Confirme su dirección de correo para {{realm}}',
      body: `Hola, {{user}}:

Confirme que esta es su dirección de correo: introduzca este código donde se le pida

    {{code}}

o abra este enlace en el mismo navegador:

{{link}}

Ambos funcionan una sola vez. Validez: {{ttl}}. Si no lo ha pedido en {{realm}}, ignore este mensaje y no dé el código a nadie.
`,
    },
    'reset-password-email': {
      subject: 'Elija una contraseña nueva para {{realm}}',
      body: `Hola, {{user}}:

Elija una contraseña nueva para {{realm}} abriendo este enlace:

{{link}}

Funciona una sola vez. Validez: {{ttl}}. Si no lo pidió, ignore este mensaje; su contraseña sigue igual.
`,
    },
    'invitation-email': {
      subject: 'Invitación a {{realm}}',
      body: `Hola:

{{inviter}} le invita a {{organization}}. Abra este enlace para empezar:

{{link}}

Funciona una sola vez. Validez: {{ttl}}. Si no espera una invitación, ignore este mensaje.
`,
    },
    'new-device-email': {
      subject: 'Nuevo inicio de sesión en {{realm}}',
      body: `Hola, {{user}}:

Su cuenta en {{realm}} se ha usado en un dispositivo que no conocíamos:

    {{device}}
    {{place}}
    {{time}}

Si fue usted, no tiene que hacer nada. Si no, abra este enlace; cierra todas las sesiones:

{{link}}
`,
    },
    'account-exists-email': {
      subject: 'Ya tiene una cuenta en {{realm}}',
      body: `Hola, {{user}}:

Alguien, quizá usted, dio esta dirección de correo en {{realm}} para una cuenta. Ya existe una con ella; su nombre de usuario es

    {{user.username}}

Puede iniciar sesión aquí, y elegir una contraseña nueva si la ha olvidado:

{{link}}

Si no fue usted, no tiene que hacer nada: nadie ha sabido que tiene una cuenta.
`,
    },
    'account-changed-email': {
      subject: 'Su cuenta en {{realm}} ha cambiado',
      body: `Hola, {{user}}:

En {{realm}}, {{change}}:

    {{time}}

Si fue usted, no tiene que hacer nada. Si no, elija una contraseña nueva y acuda enseguida a un administrador.
`,
    },
    'agent-review-email': {
      subject: '¿Sigue haciendo falta {{agent}}?',
      body: `Hola, {{user}}:

Usted responde del agente {{agent}} de {{realm}}, y su revisión vence el {{time}}. Confirme en la página de su cuenta que sigue
haciendo falta: si no, se suspenderá.

{{link}}
`,
    },
    'resource-request-email': {
      subject: '{{requester}} le pide acceso',
      body: `Hola, {{user}}:

{{requester}} le pide que comparta {{resource}} en {{client}}. Puede permitirlo o rechazarlo en la página de su cuenta:

{{link}}

Hasta entonces no se comparte nada.
`,
    },
    'push-challenge': {
      subject: '¿Iniciar sesión en {{realm}}?',
      body: 'Alguien está iniciando sesión en {{realm}}. ¿Es usted, {{user}}?',
    },
    'push-transaction': { subject: '{{client}}', body: 'Mire esto, {{user}}, y fírmelo o rechácelo.' },
  },
  changes: {
    'password-changed': 'se ha cambiado su contraseña',
    'email-changed': 'se ha cambiado su dirección de correo',
    'profile-changed': 'se ha cambiado su perfil',
    'credential-added': 'se ha configurado una nueva forma de iniciar sesión',
    'credential-removed': 'se ha quitado una forma de iniciar sesión',
    'identity-linked':
      'se ha conectado una cuenta de otro proveedor de identidad, con la que puede iniciar sesión desde ahora',
    'identity-unlinked': 'se ha desconectado una cuenta de otro proveedor de identidad',
    'sessions-ended': 'se han cerrado sus otras sesiones',
    'browser-forgotten':
      'se ha olvidado un navegador conocido como suyo; el próximo inicio de sesión con él contará como uno en un dispositivo nuevo',
    'push-denied':
      'se rechazó en su dispositivo un inicio de sesión que lo pedía (quien lo empezó había superado el paso anterior, casi siempre su contraseña)',
    'data-exported': 'se han descargado sus datos',
    'account-deleted': 'se ha eliminado su cuenta',
  },
};
