import Contracts
import Cryptography
import PeerDoubles

/// A small catalogue that breaks no rule.
enum SampleCatalogue {
    static func configuration() throws -> Configuration {
        let certificate = try CertifiedKey.selfSigned(commonName: "idp", key: .p256(.generate()), validity: .days(1)).certificate
        let saml = SamlEndpoint(idpEntityID: "idp", ssoURL: "https://idp.example/sso", signingCertificates: [certificate.der])
        let oauth = OAuthEndpoint(
            issuer: "https://fiber.example", authorizeURL: "https://fiber.example/authorize", tokenURL: "https://fiber.example/token",
            jwksURL: "https://fiber.example/jwks", clientID: "boxoffice", clientSecretReference: "openfiber")
        return Configuration(
            version: 7, changedAtMilliseconds: 1_700_000_000_000, programmers: [Programmer(id: "acme", name: String(repeating: "Acme ", count: 400))],
            requestors: [
                Requestor(id: "ACME1", name: "Acme One", programmerID: "acme", domains: [Domain(name: "acme.example")]),
                Requestor(id: "ACME2", name: "Acme Two", programmerID: "acme"),
            ],
            mvpds: [
                Mvpd(id: "NorthCable", displayName: "North Cable", signIn: .saml(saml)),
                Mvpd(id: "OpenFiber", displayName: "Open Fiber", signIn: .oauth(oauth)),
            ],
            integrations: ["NorthCable", "OpenFiber"].map { Integration(requestorID: "ACME1", mvpdID: $0, enabled: true) },
            applications: [
                Application(id: "acme-tv", name: "Acme TV", programmerID: "acme", requestorIDs: ["ACME1", "ACME2"], softwareIDs: ["acme-tv-1"]),
                Application(id: "acme-old", name: "Acme of old", programmerID: "acme", requestorIDs: ["ACME1"]),
            ])
    }
}
