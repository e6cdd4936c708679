package import Catalogue
package import Clocks
package import Contracts
package import Faults

/// The known facts about the device that shows a registration code (rest-v1 §3.4).
package struct RegistrationRecord: Hashable, Sendable {
    /// By how much the clock that makes or removes a code may be ahead of the one that asks for it.
    static let clockErrorMilliseconds: Int64 = 60_000

    package let id: RegistrationRecordID
    package let code: RegistrationCodeText
    package let requestor: RequestorID
    /// Empty when the device named none.
    package var mvpd: String
    package let generatedAt: Timestamp
    package var expiresAt: Timestamp
    package let deviceID: DeviceID
    package let device: DeviceInformation
    package let userAgent: String
    package let deviceType: String
    package let claims: DeviceClaims
    /// A person types the code here; empty: the gateway's own page.
    var registrationURL: String
    package let clientID: ClientID
    /// True once a sign-in through the code has succeeded; it starts no other (rest-v1 §3.7).
    package var isUsed = false
    /// The platform's identity of its user (rest-v1 §2.6); the sign-in through the code is theirs.
    package var identity: PlatformIdentity?
    /// The person that the device's service token named (rest-v2 §1.3); the sign-in through the code is theirs as well.
    package var serviceIdentity: ServiceIdentity?
    /// The platform's tokens that came with the code, for an upstream, sealed; empty: none, or no longer (bridge §5.1).
    package var platformTokens: [UInt8] = []
    /// A sign-in through it succeeded at this time; `nil` before.
    var usedAt: Timestamp?
    /// True: made by REST v2, where the sign-in's parameters gather here (rest-v2 §2.2); another of the same client's device ends it.
    package var isPlan = false
    /// As it was sent; empty: not yet.
    package var domainName = ""
    package var redirectURL = ""
    /// Somebody ended it: such a code has ended before it was made, whichever clock is asked.
    package var wasDeleted: Bool { expiresAt < generatedAt }
    /// Until when it is not given out again: its end, or that of the session that it made (clients §4.3).
    package var keptUntil: Timestamp

    package init(
        id: RegistrationRecordID, code: RegistrationCodeText, requestor: RequestorID, mvpd: String, generatedAt: Timestamp, expiresAt: Timestamp,
        deviceID: DeviceID, device: DeviceInformation, userAgent: String, deviceType: String, claims: DeviceClaims, registrationURL: String,
        clientID: ClientID, isUsed: Bool = false, identity: PlatformIdentity? = nil, serviceIdentity: ServiceIdentity? = nil
    ) {
        self.id = id
        self.code = code
        self.requestor = requestor
        self.mvpd = mvpd
        self.generatedAt = generatedAt
        self.expiresAt = expiresAt
        self.deviceID = deviceID
        self.device = device
        self.userAgent = userAgent
        self.deviceType = deviceType
        self.claims = claims
        self.registrationURL = registrationURL
        self.clientID = clientID
        self.isUsed = isUsed
        self.identity = identity
        self.serviceIdentity = serviceIdentity
        keptUntil = expiresAt
    }
}

extension RegistrationRecord {
    /// A caller learns the device of a code in one of these ways (rest-v1 §2.2, §3.5).
    package enum ShownDevice {
        /// Without an access token for the requestor: not at all.
        case hidden
        /// A client of the requestor: a keyed digest that is the same each time and opens nothing.
        case hashed(String)
        /// The code's maker.
        case plain

        var isHidden: Bool { if case .hidden = self { true } else { false } }

        fileprivate func id(_ device: DeviceID) -> String {
            switch self {
            case .hidden: ""
            case .hashed(let digest): digest
            case .plain: device.text
            }
        }
    }

    /// - Parameters:
    ///   - application: The one that made the code; `nil` when its software statement was revoked.
    ///   - device: The part of the device that the caller learns.
    package func contract(in catalogue: Catalogue, application: Application?, device shown: ShownDevice) -> RegistrationCode {
        let configured = catalogue.requestor(requestor.text)?.registrationURL ?? ""
        return RegistrationCode(
            id: id.text, code: code.text, requestor: requestor.text, mvpd: mvpd,
            generatedAtMilliseconds: UInt64(clamping: generatedAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), deviceID: shown.id(deviceID),
            device: shown.isHidden ? nil : device, userAgent: userAgent, originalUserAgent: userAgent, deviceType: deviceType,
            deviceUser: claims.deviceUser, appID: claims.appID, registrationURL: registrationURL.isEmpty ? configured : registrationURL,
            applicationID: application?.id ?? "", applicationName: application?.name ?? "", applicationVersion: application?.version ?? "",
            used: isUsed, deviceLabel: device.label, domainName: domainName, redirectURL: redirectURL)
    }
}

/// The facts that a code still tells, to whom and for how long (clients §1.14).
extension RegistrationRecord {
    /// An onlooker may have seen a code on a screen; only its maker goes on asking for it after that.
    package enum Teller {
        /// The record itself.
        case record
        /// The session of the person who has signed in through the code.
        case session
    }

    /// A code tells others of its session for this long after its use.
    package static let told: Duration = .seconds(600)
    /// A code is remembered for this long after its end: its maker's last polls are no guesses.
    package static let remembrance: Duration = .seconds(3600)

    /// - Parameter caller: `nil` for a caller without an access token.
    package func isMadeBy(_ caller: ClientID?) -> Bool { caller == clientID }

    /// - Throws: `invalid_registration_code` when the code is nothing to the caller; `registration_code_spent` when it was something.
    package func requireTold(_ what: Teller, to caller: ClientID?, now: Timestamp) throws(Fault) {
        guard expiresAt > now else { throw isMadeBy(caller) ? RegistrationCodes.spentCode : RegistrationCodes.unknownCode }
        guard isUsed, !isMadeBy(caller) else { return }
        guard what == .session, let usedAt, now < usedAt + Self.told else { throw RegistrationCodes.spentCode }
    }
}

extension DeviceInformation {
    private static let longestLabel = 120

    /// Manufacturer, model and system, as far as the device told them: by these a person recognises a device.
    package var label: String {
        let maker = [manufacturer, vendor].first { !$0.isEmpty } ?? ""
        let device = [model.hasPrefix(maker) ? "" : maker, model].filter { !$0.isEmpty }.joined(separator: " ")
        let system = osName.isEmpty || device.contains(osName) ? "" : device.isEmpty ? osName : " (\(osName))"
        return String((device + system).filter { !$0.isNewline }.prefix(Self.longestLabel))
    }
}
