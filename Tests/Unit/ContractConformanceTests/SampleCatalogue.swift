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
        let lake = SamlEndpoint(idpEntityID: "lake", ssoURL: "https://lake.example/sso", signingCertificates: [certificate.der])
        return Configuration(
            version: 7, changedAtMilliseconds: 1_700_000_000_000, programmers: [Programmer(id: "acme", name: String(repeating: "Acme ", count: 400))],
            requestors: [
                Requestor(id: "ACME1", name: "Acme One", programmerID: "acme", domains: [Domain(name: "acme.example")]),
                Requestor(id: "ACME2", name: "Acme Two", programmerID: "acme", domains: [Domain(name: "acme-two.example")]),
                Requestor(id: "BRAVO", name: "Bravo", programmerID: "acme", domains: [Domain(name: "bravo.example")]),
            ],
            mvpds: [
                Mvpd(
                    id: "NorthCable", displayName: "North Cable", platforms: [platform("north-cable", .supported)], signIn: .saml(saml)),
                Mvpd(id: "OpenFiber", displayName: "Open Fiber", signIn: .oauth(oauth)),
                Mvpd(id: "LakeTel", displayName: "Lake Tel", platforms: [platform("lake-tel", .picker)], signIn: .saml(lake)),
                Mvpd(id: "ParkedTV", displayName: "Parked TV", signIn: .saml(lake)),
                Mvpd(id: "Preview10", displayName: "Free preview", signIn: .tempPass(TempPass(ttlSeconds: 600))),
                Mvpd(
                    id: "PromoVod", displayName: "Promotion",
                    signIn: .tempPass(TempPass(kind: .promotional, ttlSeconds: 86_400, maxResources: 3, userInformationKey: "email"))),
            ],
            integrations: ["NorthCable", "OpenFiber", "LakeTel", "Preview10", "PromoVod"].map {
                Integration(requestorID: "ACME1", mvpdID: $0, enabled: true, platformSsoEnabled: true)
            } + [
                Integration(requestorID: "ACME2", mvpdID: "NorthCable", enabled: true, preflightMaxResources: 25),
                Integration(requestorID: "ACME1", mvpdID: "ParkedTV", enabled: false),
            ],
            applications: [
                Application(
                    id: "acme-tv", name: "Acme TV", programmerID: "acme", requestorIDs: ["ACME1", "ACME2"],
                    scopes: ["api:client:v1", "api:client:v2"], softwareIDs: ["acme-tv-1"]),
                Application(
                    id: "acme-legacy", name: "Acme TV of 2016", programmerID: "acme", requestorIDs: ["ACME1"], scopes: ["api:client:v1"],
                    softwareIDs: ["acme-legacy-1"]),
                Application(id: "acme-old", name: "Acme of old", programmerID: "acme", requestorIDs: ["ACME1"]),
            ])
    }

    private static func platform(_ name: String, _ status: BoardingStatus) -> PlatformSettings {
        PlatformSettings(
            platform: .tvos, enablePlatformServices: true, boardingStatus: status, platformMappingID: name,
            requiredMetadataFields: ["userID", "householdID"])
    }
}
