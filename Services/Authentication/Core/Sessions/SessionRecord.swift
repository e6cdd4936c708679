internal import BridgeClient
package import Catalogue
package import Clocks
package import Contracts

/// The owner of a session: a device at a requestor has one at a time (rest-v1 §5).
package struct SessionKey: Hashable, Sendable {
    package let device: DeviceID
    package let requestor: RequestorID

    package init(device: DeviceID, requestor: RequestorID) {
        (self.device, self.requestor) = (device, requestor)
    }
}

/// An authn token as it is stored. Its many fields are one reference: it is handed on a dozen times for each check.
package struct SessionRecord: Sendable {
    /// No session lives longer: ours a year (mvpd §1.1), an upstream's 400 days (bridge §8.1); and some time for clocks.
    package static let longestLife: Duration = BridgedEnd.farthest + .seconds(86_400)

    private struct Fields: Hashable {
        let id: SessionID
        let key: SessionKey
        let mvpd: MvpdID
        let record: RegistrationRecordID?
        let claims: DeviceClaims
        let clientID: ClientID
        var userID: String
        var subject: ProviderSubject
        let createdAt: Timestamp
        var expiresAt: Timestamp
        var origin: SessionOrigin
        var updatedAt: Timestamp
        let device: DeviceInformation
    }

    private final class Box: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var box: Box

    package init(
        id: SessionID, key: SessionKey, mvpd: MvpdID, record: RegistrationRecordID?, claims: DeviceClaims, clientID: ClientID, userID: String,
        subject: ProviderSubject, createdAt: Timestamp, expiresAt: Timestamp, origin: SessionOrigin, updatedAt: Timestamp, device: DeviceInformation
    ) {
        box = Box(
            Fields(
                id: id, key: key, mvpd: mvpd, record: record, claims: claims, clientID: clientID, userID: userID, subject: subject,
                createdAt: createdAt, expiresAt: expiresAt, origin: origin, updatedAt: updatedAt, device: device))
    }

    package var id: SessionID { box.fields.id }
    package var key: SessionKey { box.fields.key }
    package var mvpd: MvpdID { box.fields.mvpd }
    /// The registration code's record that it came through; `nil` when it was made without a code.
    package var record: RegistrationRecordID? { box.fields.record }
    package var claims: DeviceClaims { box.fields.claims }
    package var clientID: ClientID { box.fields.clientID }
    /// The scrambled user id (rest-v1 §7).
    package var userID: String { box.fields.userID }
    package var createdAt: Timestamp { box.fields.createdAt }
    /// The device information of the registration code, or of the call that made the session.
    package var device: DeviceInformation { box.fields.device }

    package var subject: ProviderSubject {
        get { box.fields.subject }
        set { change { $0.subject = newValue } }
    }
    package var expiresAt: Timestamp {
        get { box.fields.expiresAt }
        set { change { $0.expiresAt = newValue } }
    }
    package var origin: SessionOrigin {
        get { box.fields.origin }
        set { change { $0.origin = newValue } }
    }
    /// The attributes were last set at this time.
    package var updatedAt: Timestamp {
        get { box.fields.updatedAt }
        set { change { $0.updatedAt = newValue } }
    }

    /// The same with another user id; `nil`: as it is.
    package func known(as userID: String?) -> SessionRecord {
        guard let userID else { return self }
        var record = self
        record.change { $0.userID = userID }
        return record
    }

    private mutating func change(_ body: (inout Fields) -> Void) {
        var fields = box.fields
        body(&fields)
        box = Box(fields)
    }

    package var kind: SessionKind { origin.kind }
}

extension SessionRecord: Hashable {
    package static func == (one: SessionRecord, other: SessionRecord) -> Bool { one.box === other.box || one.box.fields == other.box.fields }

    package func hash(into hasher: inout Hasher) { hasher.combine(box.fields) }
}

/// A session came about in this way.
package struct SessionOrigin: Hashable, Sendable {
    package let kind: SessionKind
    /// When the person signed in, or the trial was asked for; taken over with a shared and with an automatic session.
    package let authenticatedAt: Timestamp
    /// The rule that made a degraded session (rest-v1 §6.1).
    package var rule: DegradationRuleID?
    /// The platform identity that the device had shown (rest-v1 §4.9).
    package var identity: PlatformIdentity?
    /// The trial of a TempPass session (rest-v1 §6.2).
    package var trial: TrialID?
    /// The person that the device's service token had named (rest-v2 §5 J).
    package var serviceIdentity: ServiceIdentity?
    /// The session that holds the MVPD's tokens; set when the sign-in was by OAuth (mvpd §3).
    package var upstream: SessionID?

    package init(
        kind: SessionKind, authenticatedAt: Timestamp, rule: DegradationRuleID? = nil, identity: PlatformIdentity? = nil, trial: TrialID? = nil,
        serviceIdentity: ServiceIdentity? = nil, upstream: SessionID? = nil
    ) {
        (self.kind, self.authenticatedAt, self.rule, self.identity) = (kind, authenticatedAt, rule, identity)
        (self.trial, self.serviceIdentity, self.upstream) = (trial, serviceIdentity, upstream)
    }
}

extension SessionRecord {
    /// The session as its device may see it.
    package func contract(in catalogue: Catalogue) -> Session {
        let mvpd = catalogue.mvpd(mvpd.text)
        return Session(
            id: id.text, requestor: key.requestor.text, mvpd: self.mvpd.text, proxyMvpd: mvpd?.isProxied == true ? mvpd?.proxyMvpdID ?? "" : "",
            userID: userID, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds),
            expiresAtMilliseconds: UInt64(clamping: expiresAt.milliseconds), kind: origin.kind)
    }

    /// With the identity that the MVPD gave. Only metadata keys that are enabled for the integration leave the service (mvpd §2.5).
    package func subjectContract(in catalogue: Catalogue) -> SessionSubject {
        let integration = catalogue.integration(requestor: key.requestor.text, mvpd: mvpd.text)
        let keys = integration?.metadataKeys ?? []
        let told = subject.attributes.filter { attribute in
            let name = attribute.key.metadataName
            return keys.contains { $0.key == name } && (kind != .automatic || StreamingMetadata.covers(attribute.key))
        }
        return SessionSubject(
            session: contract(in: catalogue), upstreamUserID: subject.userID, attributes: told, clientID: clientID.text,
            deviceID: key.device.text, device: device, upstreamSessionID: origin.upstream?.text ?? "")
    }
}

/// The deprecated `appId` and `deviceUser`: a later call that names another one finds no session (rest-v1 §2.5, §5). A broadcaster's app names its
/// `appId` when it preauthorizes and not when it asks for a code. So it is not compared where the code lacks it (clients #32).
package struct DeviceClaims: Hashable, Sendable {
    package var appID = ""
    package var deviceUser = ""

    package init(appID: String = "", deviceUser: String = "") {
        (self.appID, self.deviceUser) = (appID, deviceUser)
    }

    /// True when a call with these claims may see what was made with the `original` ones; an absent claim is not compared.
    func agree(with original: DeviceClaims) -> Bool {
        (appID.isEmpty || original.appID.isEmpty || appID == original.appID) && (deviceUser.isEmpty || deviceUser == original.deviceUser)
    }
}

/// The person as the MVPD named them (mvpd §2.4); never printed.
package struct ProviderSubject: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The raw user id: NameID, or the attribute that the endpoint names instead.
    package let userID: String
    /// The subject that a later logout has to send back (mvpd §2.7).
    package let name: SubjectName
    package let isHomeBased: Bool
    package var attributes: [UserAttribute]

    package init(userID: String, name: SubjectName, isHomeBased: Bool, attributes: [UserAttribute]) {
        (self.userID, self.name, self.isHomeBased, self.attributes) = (userID, name, isHomeBased, attributes)
    }

    package var description: String { "[hidden]" }
    package var debugDescription: String { "[hidden]" }
}

/// The NameID with its qualifiers and the MVPD's own session.
package struct SubjectName: Hashable, Sendable {
    package var value = ""
    package var format = ""
    package var nameQualifier = ""
    package var serviceProviderQualifier = ""
    /// The name that this service once gave the person at the MVPD (`SPProvidedID`, SAML core §2.2.2).
    package var serviceProvidedID = ""
    package var sessionIndex = ""

    package init(
        value: String = "", format: String = "", nameQualifier: String = "", serviceProviderQualifier: String = "", serviceProvidedID: String = "",
        sessionIndex: String = ""
    ) {
        (self.value, self.format, self.nameQualifier, self.serviceProviderQualifier) = (value, format, nameQualifier, serviceProviderQualifier)
        (self.serviceProvidedID, self.sessionIndex) = (serviceProvidedID, sessionIndex)
    }
}

/// The device that gets a session without anybody signing in: the caller, or the one that shows a registration code.
package struct DeviceAtHand: Hashable, Sendable {
    package let key: SessionKey
    package let record: RegistrationRecordID?
    package let claims: DeviceClaims
    package let clientID: ClientID
    package let information: DeviceInformation

    package init(_ caller: DeviceCaller) {
        key = SessionKey(device: caller.device, requestor: caller.requestor)
        record = nil
        claims = caller.claims
        clientID = caller.client.id
        information = caller.information
    }

    package init(_ record: RegistrationRecord) {
        key = SessionKey(device: record.deviceID, requestor: record.requestor)
        self.record = record.id
        claims = record.claims
        clientID = record.clientID
        information = record.device
    }

    /// A session of nobody whom an MVPD knows: its user is the device.
    package func session(
        id: SessionID, mvpd: MvpdID, userID: String, createdAt: Timestamp, expiresAt: Timestamp, origin: SessionOrigin
    ) -> SessionRecord {
        let subject = ProviderSubject(
            userID: userID, name: SubjectName(), isHomeBased: false, attributes: [UserAttribute(key: "userID", values: [userID])])
        return SessionRecord(
            id: id, key: key, mvpd: mvpd, record: record, claims: claims, clientID: clientID, userID: userID, subject: subject,
            createdAt: createdAt, expiresAt: expiresAt, origin: origin, updatedAt: createdAt, device: information)
    }
}

extension SessionRecord {
    /// True when a person has signed in for it somewhere. A stand-in, under a rule or on trial, is shown by v2 only where its MVPD is asked for
    /// (rest-v2 §2.6).
    package var isProfile: Bool {
        switch kind {
        case .regular, .platform, .shared, .serviceToken, .automatic: true
        case .tempPass, .degraded, .unrecognized: false
        }
    }
}
