internal import SandboxKit
internal import Clocks

/// Messages of the routes `/control/…` of the stand-in vendor; an unknown key is refused.
enum VendorControlMessages {
    struct Clock: Decodable {
        let offsetSeconds: Int64
    }

    struct Faults: Decodable {
        /// nil: all.
        let operations: [VendorOperation]?
        let faults: [VendorFault]
    }

    struct Statement: Decodable {
        let id: String
        let serviceProviders: [String]?
        let scopes: [String]?
        /// One that somebody else made; nil: the stand-in signs one.
        let text: String?
    }

    struct ServiceProvider: Decodable {
        let name: String?
        let domains: [String]?
        let redirectHosts: [String]?
    }

    struct Mvpd: Decodable {
        let displayName: String?
        let logoUrl: String?
        let hasLogout: Bool?
        let tempPass: VendorCatalogue.Mvpd.TempPass?
        let isProxy: Bool?
        let proxyMvpd: String?
        let platformMappingId: String?
        let boardingStatus: String?
    }

    struct Integration: Decodable {
        let isEnabled: Bool?
        let authnSeconds: Int?
        let authzSeconds: Int?
        let mediaTokenSeconds: Int?
        let authorizeLimit: Int?
        let preauthorizeLimit: Int?
    }

    struct Behaviour: Decodable {
        struct Throttle: Decodable {
            let isOn: Bool?
            let perSecond: Int?
            let burst: Int?
            let by: VendorThrottle.Terms.Key?
        }

        let sessionSeconds: Int?
        let tokenSeconds: Int?
        let dcrStatus: Int?
        let visibilityMilliseconds: Int?
        let strictDomains: Bool?
        let goneClientStatus: Int?
        let latencyMilliseconds: Int?
        let encryptedState: String?
        let encryptsUserID: Bool?
        let sessionURLPrefix: String?
        let missingDomainName: String?
        let throttle: Throttle?
    }

    struct Identity: Decodable {
        /// The header's value.
        let token: String
        let kind: SsoIdentity.Kind
        /// nil: the token counts for nothing from now on.
        let id: String?
    }

    struct PartnerAnswer: Decodable {
        /// Base64, as the partner session gave it.
        let request: String
        let person: String
    }

    struct PartnerAnswered: Encodable {
        let response: String

        enum CodingKeys: String, CodingKey { case response = "SAMLResponse" }
    }

    static func span(_ seconds: Int64, _ key: String) throws(SettingsFault) -> Duration {
        guard (-31_536_000...31_536_000).contains(seconds) else { throw SettingsFault(key: key, problem: "is more than a year") }
        return .seconds(seconds)
    }
}

extension VendorBehaviour {
    /// Sets what the message names; the rest stays.
    mutating func change(_ message: VendorControlMessages.Behaviour) throws(SettingsFault) {
        var changed = self
        changed.sessionSeconds = message.sessionSeconds ?? sessionSeconds
        changed.tokenSeconds = message.tokenSeconds ?? tokenSeconds
        changed.dcrStatus = message.dcrStatus ?? dcrStatus
        changed.visibilityMilliseconds = message.visibilityMilliseconds ?? visibilityMilliseconds
        changed.strictDomains = message.strictDomains ?? strictDomains
        changed.goneClientStatus = message.goneClientStatus ?? goneClientStatus
        changed.latencyMilliseconds = message.latencyMilliseconds ?? latencyMilliseconds
        changed.encryptedState = message.encryptedState ?? encryptedState
        changed.encryptsUserID = message.encryptsUserID ?? encryptsUserID
        changed.sessionURLPrefix = message.sessionURLPrefix ?? sessionURLPrefix
        changed.missingDomainName = message.missingDomainName ?? missingDomainName
        changed.throttle.isOn = message.throttle?.isOn ?? throttle.isOn
        changed.throttle.perSecond = message.throttle?.perSecond ?? throttle.perSecond
        changed.throttle.burst = message.throttle?.burst ?? throttle.burst
        changed.throttle.by = message.throttle?.by ?? throttle.by
        try changed.check()
        self = changed
    }
}

extension VendorCatalogue.Integration {
    /// Sets what the message names; the rest stays.
    mutating func change(_ message: VendorControlMessages.Integration) throws(SettingsFault) {
        isEnabled = message.isEnabled ?? isEnabled
        authnSeconds = message.authnSeconds ?? authnSeconds
        authzSeconds = message.authzSeconds ?? authzSeconds
        mediaTokenSeconds = message.mediaTokenSeconds ?? mediaTokenSeconds
        authorizeLimit = message.authorizeLimit ?? authorizeLimit
        preauthorizeLimit = message.preauthorizeLimit ?? preauthorizeLimit
        try VendorBehaviour.check(authnSeconds, "authnSeconds", 1...31_536_000)
        try VendorBehaviour.check(authzSeconds, "authzSeconds", 1...31_536_000)
        try VendorBehaviour.check(mediaTokenSeconds, "mediaTokenSeconds", 1...3600)
        try VendorBehaviour.check(authorizeLimit, "authorizeLimit", 1...100)
        try VendorBehaviour.check(preauthorizeLimit, "preauthorizeLimit", 1...100)
    }
}
