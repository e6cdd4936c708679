/// The settings file as it is written; what may be left out is optional.
struct SettingsFile: Decodable {
    struct Listener: Decodable {
        let address: String
        let port: Int
    }

    struct Tls: Decodable {
        let certificate: String
        let key: String
    }

    struct Log: Decodable {
        let level: String
    }

    struct ServiceProvider: Decodable {
        let entityID: String
        let signingCertificate: String
        let encryptionCertificate: String?
        let acsURL: String
        let logoutURL: String?
    }

    struct Mvpd: Decodable {
        let id: String
        let displayName: String?
        let entityID: String?
        let certificate: String
        let key: String
        let signAssertion: Bool?
        let signResponse: Bool?
        let encryptAssertion: Bool?
        let validateRequests: Bool?
        let home: Home?
        let oauth: OAuth?
    }

    struct Home: Decodable {
        let addresses: [String]
        let person: String
    }

    struct Person: Decodable {
        let name: String
        let password: String?
        let channels: [String]?
        let maxVCHIP: String?
        let maxMPAA: String?
        let zip: [String]?
        let headOfHousehold: Bool?
        let loginFails: Bool?
    }

    struct Apple: Decodable {
        let listen: Listener
        let identityIssuer: String
        let identityKey: String
        let providers: [Provider]
        let teams: [AppleTeam]?
        let seed: String?
    }

    struct AppleTeam: Decodable {
        let id: String
        let signInKeys: [AppleKey]
        let issuer: String
        let purchaseKeys: [AppleKey]
        let groups: [AppleGroup]
    }

    struct AppleKey: Decodable {
        let id: String
        let file: String
    }

    struct AppleGroup: Decodable {
        struct Service: Decodable {
            let id: String
            let redirectURLs: [String]
        }

        let id: String
        let bundleIDs: [String]
        let servicesIDs: [Service]?
        let notificationURL: String?
    }

    struct Provider: Decodable {
        let id: String
        let mvpd: String
    }

    struct Upstream: Decodable {
        let listen: Listener
        let publicURL: String?
        let certificate: String
        let key: String
        let throttles: Bool?
    }

    let listen: Listener
    let tls: Tls?
    let publicURL: String?
    let serviceURL: String?
    let pages: String?
    let log: Log?
    let serviceProvider: ServiceProvider
    let mvpds: [Mvpd]
    let channels: [String]?
    let people: [Person]?
    let visitorPrefix: String?
    let apple: Apple?
    let staff: Staff?
    let upstream: Upstream?
    let trustPrivateNetworks: Bool?
}
