internal import Contracts

/// The catalogue that the gateway's tests use.
enum DemoCatalogue {
    static var configuration: Configuration {
        Configuration(
            version: 1, programmers: [Programmer(id: "acme", name: "Acme")],
            requestors: [
                Requestor(
                    id: "ACME1", name: "Acme One", programmerID: "acme", domains: [Domain(name: "acme.example")],
                    defaultRedirectURL: "https://acme.example/bye", customSchemes: ["adbe.acme"]),
                Requestor(id: "ACME2", name: "Acme Two", programmerID: "acme", domains: [Domain(name: "acme-two.example")]),
                Requestor(id: "BRAVO", name: "Bravo", domains: [Domain(name: "bravo.example")], enhancedErrors: true),
            ], mvpds: mvpds,
            integrations: [
                Integration(requestorID: "ACME1", mvpdID: "NorthCable", enabled: true, platformSsoEnabled: true),
                Integration(requestorID: "ACME1", mvpdID: "LakeTel", enabled: true, platformSsoEnabled: true),
                Integration(requestorID: "ACME1", mvpdID: "OpenFiber", enabled: true),
                Integration(requestorID: "ACME1", mvpdID: "ParkedTV", enabled: false),
                Integration(requestorID: "BRAVO", mvpdID: "NorthCable", enabled: true),
            ])
    }

    private static var mvpds: [Mvpd] {
        let saml = Mvpd.SignIn.saml(SamlEndpoint(ssoURL: "https://idp.example/sso"))
        return [
            Mvpd(
                id: "NorthCable", displayName: "North & Cable", logoURL: "https://img.example/north.png",
                platforms: [platform(.supported, "north-cable")], signIn: saml),
            Mvpd(id: "LakeTel", displayName: "Lake Telecom", platforms: [platform(.picker, "lake-tel")], signIn: saml),
            Mvpd(id: "OpenFiber", displayName: "Open Fiber", signIn: .oauth(OAuthEndpoint(issuer: "https://oidc.example"))),
            Mvpd(id: "ParkedTV", displayName: "Parked TV", signIn: saml),
        ]
    }

    private static func platform(_ status: BoardingStatus, _ id: String) -> PlatformSettings {
        PlatformSettings(
            platform: .tvos, enablePlatformServices: true, boardingStatus: status, displayInPlatformPicker: true, platformMappingID: id,
            requiredMetadataFields: ["userID", "householdID"])
    }
}
