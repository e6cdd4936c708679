<?php

// SimpleSAMLphp as an identity provider on loopback. All that differs between runs is in PEER_FOLDER: settings.json, keys, sessions, logs.
$folder = getenv('PEER_FOLDER');
$settings = json_decode(file_get_contents($folder . '/settings.json'), true);

$config = [
    'baseurlpath' => $settings['address'] . '/simplesaml/',
    'certdir' => $folder,
    'loggingdir' => $folder,
    'datadir' => $folder,
    'tempdir' => $folder . '/temporary',
    'metadatadir' => __DIR__ . '/metadata',
    'technicalcontact_name' => 'Nobody',
    'technicalcontact_email' => 'nobody@idp.example',
    'timezone' => 'UTC',
    'secretsalt' => $settings['salt'],
    'auth.adminpassword' => $settings['salt'],
    'admin.checkforupdates' => false,
    'showerrors' => true,
    'errorreporting' => false,
    'logging.handler' => 'file',
    'logging.logfile' => 'simplesamlphp.log',
    'enable.saml20-idp' => true,
    'module.enable' => ['core' => true, 'saml' => true, 'exampleauth' => true],
    'session.cookie.name' => 'SessionID',
    'session.cookie.secure' => false,
    'session.cookie.samesite' => 'Lax',
    'session.phpsession.savepath' => $folder . '/sessions',
    'language.cookie.secure' => false,
    'language.cookie.samesite' => 'Lax',
    'language.available' => ['en'],
    'language.default' => 'en',
    'theme.use' => 'default',
    'production' => true,
    'store.type' => 'phpsession',
    'metadata.sources' => [
        ['type' => 'flatfile'],
        // The service provider's own signed document.
        ['type' => 'xml', 'file' => $folder . '/sp.xml'],
    ],
];
