import Contracts
import Tokens

/// The catalogue of the service's tests.
enum TestCatalogue {
    static func configuration(statementKeys: String, idpCertificate: [UInt8] = []) -> Configuration {
        Configuration(
            version: 1, programmers: [Programmer(id: "seven", name: "Seven")], requestors: requestors,
            mvpds: mvpds(idpCertificate), integrations: integrations, applications: applications, statementKeys: statementKeys)
    }

    private static let requestors = [
        Requestor(
            id: "CHAN7", programmerID: "seven", domains: [Domain(name: "chan7.example")], registrationURL: "https://tv.chan7.example/code",
            defaultRedirectURL: "https://chan7.example/welcome", customSchemes: ["adbe.channelseven"]),
        Requestor(id: "CHAN8", programmerID: "seven", domains: [Domain(name: "chan8.example")]),
        Requestor(id: "FOREIGN", programmerID: "other", domains: [Domain(name: "foreign.example")]),
    ]

    private static func mvpds(_ certificate: [UInt8]) -> [Mvpd] {
        [
            Mvpd(id: "DemoCable", displayName: "Demo Cable", signIn: .saml(endpoint(certificate))),
            Mvpd(id: "OtherCable", displayName: "Other Cable", signIn: .saml(endpoint(certificate))),
            Mvpd(id: "OpenFiber", displayName: "Open Fiber", passiveAuthnEnabled: true, signIn: .oauth(ScriptedProvider.endpoint)),
            Mvpd(id: "ParkedTV", displayName: "Parked TV", signIn: .saml(endpoint(certificate))),
            Mvpd(id: "Preview10", signIn: .tempPass(TempPass(kind: .basic, ttlSeconds: 600))),
            Mvpd(
                id: "PromoVod",
                signIn: .tempPass(TempPass(kind: .promotional, ttlSeconds: 3600, maxResources: 2, userInformationKey: "email"))),
        ]
    }

    static func endpoint(_ certificate: [UInt8]) -> SamlEndpoint {
        SamlEndpoint(
            idpEntityID: "https://idp.harbor.example/metadata", ssoURL: "https://idp.harbor.example/sso", requestBinding: .redirect,
            signingCertificates: [certificate], signaturePolicy: .assertion,
            attributeMap: [
                AttributeMapping(source: "householdID", target: "householdID"),
                AttributeMapping(source: "hba_status", target: "hba_status", type: .boolean),
                AttributeMapping(source: "MaxTVRating", target: "maxRating.VCHIP"),
                AttributeMapping(source: "lineup", target: "channelID", type: .stringList),
            ])
    }

    private static let integrations: [Integration] = ["CHAN7", "CHAN8", "FOREIGN"].flatMap { requestor in
        ["DemoCable", "OtherCable", "OpenFiber", "ParkedTV", "Preview10", "PromoVod"].map { mvpd in
            Integration(
                requestorID: requestor, mvpdID: mvpd, enabled: mvpd != "ParkedTV",
                metadataKeys: [MetadataKey(key: "householdID"), MetadataKey(key: "maxRating")])
        }
    }

    private static let applications = [
        application("tv", ["CHAN7", "CHAN8"], .roku), application("phone", ["CHAN7"], .ios), application("amazon", ["CHAN7"], .fireTv),
        application("foreign", ["FOREIGN"], .roku),
        Application(
            id: "ops", requestorIDs: ["CHAN7"], scopes: ["decisions:owner", "temporary:passes:owner"], softwareIDs: ["software-ops"]),
        Application(id: "backend", requestorIDs: ["CHAN7"], scopes: ["autosignin:owner"], softwareIDs: ["software-backend"]),
        Application(id: "old", requestorIDs: ["CHAN7"], scopes: ["api:client:v2"], softwareIDs: ["software-old"]),
    ]

    private static func application(_ id: String, _ requestors: [String], _ platform: Platform) -> Application {
        Application(
            id: id, name: "App \(id)", version: "1.2", requestorIDs: requestors, platforms: [platform], scopes: ["api:client:v1"],
            redirectDomains: ["chan7.example"], softwareIDs: ["software-\(id)"])
    }
}
