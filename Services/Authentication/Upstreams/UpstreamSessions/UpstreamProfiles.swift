internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import StrictJson

/// Makes sessions of upstream's profiles (bridge §8).
struct UpstreamProfiles: Sendable {
    let seal: TokenSeal
    let scrambler: UserIDScrambler
    let random: any RandomSource

    /// The holder of the new session.
    struct Holder: Sendable {
        let key: SessionKey
        let claims: DeviceClaims
        let clientID: ClientID
        let device: DeviceInformation
        let userAgent: String
        let record: RegistrationRecordID?
        let mvpd: MvpdID
        let upstream: BridgeUpstream
        let serviceProvider: String
        let theirMvpd: String
        let slot: String
        var identity = UpstreamIdentity()
    }

    func session(of profile: BridgedProfile, for holder: Holder, now: Timestamp) throws(Fault) -> (session: SessionRecord, part: UpstreamPart) {
        // A session of another kind would be looked at by our own rules: what kind it is upstream stands in its part (decision 0074).
        let session = SessionRecord(
            id: SessionID(random.uuid()), key: holder.key, mvpd: holder.mvpd, record: holder.record, claims: holder.claims, clientID: holder.clientID,
            userID: userID(profile, holder), subject: ProviderSubject(userID: "", name: SubjectName(), isHomeBased: false, attributes: []),
            createdAt: now, expiresAt: BridgedEnd.kept(profile.end, now: now), origin: SessionOrigin(kind: .regular, authenticatedAt: now),
            updatedAt: profile.start, device: holder.device)
        return (session, try part(of: profile, holder, session.id, now))
    }

    func part(of profile: BridgedProfile, _ holder: Holder, _ session: SessionID, _ now: Timestamp) throws(Fault) -> UpstreamPart {
        UpstreamPart(
            session: session, key: holder.key, mvpd: holder.mvpd, upstream: holder.upstream.id, serviceProvider: holder.serviceProvider,
            theirMvpd: holder.theirMvpd, slot: holder.slot, kind: profile.kind.rawValue, startsAt: profile.start,
            expiresAt: BridgedEnd.kept(profile.end, now: now), confirmedAt: now,
            person: profile[attribute: "userID"]?.plainText.map { person($0, at: holder.upstream.id, holder.mvpd) },
            encryptedNames: profile.attributes.filter(\.isEncrypted).map(\.name),
            attributes: try sealed(profile.attributes, holder.identity, session), device: holder.device, userAgent: holder.userAgent,
            household: Self.household(profile))
    }

    /// The part after upstream has told it again.
    func confirmed(_ part: UpstreamPart, by profile: BridgedProfile, now: Timestamp) throws(Fault) -> UpstreamPart {
        var part = part
        (part.expiresAt, part.confirmedAt) = (BridgedEnd.kept(profile.end, now: now), now)
        (part.isSuspect, part.mayHaveChanged) = (false, false)
        guard attributes(of: part) != Self.listed(profile.attributes) else { return part }
        part.encryptedNames = profile.attributes.filter(\.isEncrypted).map(\.name)
        part.attributes = try sealed(profile.attributes, identity(of: part), part.session)
        part.household = Self.household(profile)
        return part
    }

    /// The household's id, where upstream tells it in clear.
    private static func household(_ profile: BridgedProfile) -> String {
        profile[attribute: Household.attribute]?.plainText.map(Household.mark) ?? ""
    }

    /// Upstream's attributes of a session, in clear where they are: each value is JSON.
    func plainAttributes(_ sealed: [UInt8], of session: String) -> [UserAttribute] {
        guard let text = seal.open(sealed, of: SessionID(session), as: ProviderSecret.self)?.text, let octets = Base64.standard.decode(text),
            let told = try? ProviderSubject.attributes(column: octets)
        else { return [] }
        return told.map { attribute in
            let values = attribute.values.map { value in
                if case .string(let text)? = (try? JsonDocument(parsing: Array(value.utf8)))?.root.content { text } else { value }
            }
            return UserAttribute(key: attribute.key, values: values)
        }
    }

    /// Each by its name, its value as JSON.
    func attributes(of part: UpstreamPart) -> [UserAttribute] {
        guard let octets = Base64.standard.decode(opened(part).attributes) else { return [] }
        return (try? ProviderSubject.attributes(column: octets)) ?? []
    }

    /// Under what the id of the session's person in media tokens is remembered; `nil` where upstream does not tell who it is.
    func person(of part: UpstreamPart) -> String? {
        guard !part.encryptedNames.contains("userID"), let attribute = attributes(of: part).first(where: { $0.key == "userID" }) else { return nil }
        let told = BridgedAttribute(name: attribute.key, json: attribute.values.first ?? "null", isEncrypted: false)
        return told.plainText.map { person($0, at: part.upstream, part.mvpd) }
    }

    private func person(_ userID: String, at upstream: String, _ mvpd: MvpdID) -> String { scrambler.scramble("\(upstream)|\(userID)", mvpd: mvpd) }

    func identity(of part: UpstreamPart) -> UpstreamIdentity { opened(part).identity }

    /// True when a play has to say again who the person is: at a promotional trial (bridge §10.1).
    func needsIdentity(_ part: UpstreamPart) -> Bool {
        guard part.isTrial, !identity(of: part).temporaryPass.isEmpty else { return false }
        return attributes(of: part).contains { $0.key == "remaining_resources" }
    }

    /// The device of a session as upstream has to be told of it.
    /// - Parameter caller: The device that calls now; `nil`: as it was when the session began.
    func device(of part: UpstreamPart, calling caller: BridgeDevice? = nil) -> BridgeDevice {
        var device = caller ?? BridgeDevice(part.key.device, part.device, userAgent: part.userAgent)
        guard part.isTrial || part.isPartners else { return device }
        let identity = identity(of: part)
        device.temporaryPassIdentity = identity.temporaryPass
        if !identity.partner.isEmpty { device.partnerStatus = UpstreamIdentity.partnerStatus(identity.partner, until: part.expiresAt) }
        return device
    }

    private func opened(_ part: UpstreamPart) -> (attributes: String, identity: UpstreamIdentity) {
        UpstreamIdentity.split(seal.open(part.attributes, of: part.session, as: ProviderSecret.self)?.text ?? "")
    }

    private func sealed(_ attributes: [BridgedAttribute], _ identity: UpstreamIdentity, _ session: SessionID) throws(Fault) -> [UInt8] {
        let subject = ProviderSubject(userID: "", name: SubjectName(), isHomeBased: false, attributes: Self.listed(attributes))
        let text = Base64.standard.encode(try subject.attributesColumn())
        return try seal.close(ProviderSecret(identity.sealable(with: text)), of: session)
    }

    private static func listed(_ attributes: [BridgedAttribute]) -> [UserAttribute] {
        attributes.map { UserAttribute(key: $0.name, values: [$0.json]) }
    }

    /// The user id of REST v1, which v2 does not tell (bridge §8.2).
    private func userID(_ profile: BridgedProfile, _ holder: Holder) -> String {
        guard let attribute = profile[attribute: "userID"] else { return scrambler.degraded(holder.key.device) }
        guard let plain = attribute.plainText else {
            return scrambler.scramble("\(holder.slot)|\(holder.key.device)|\(profile.start.milliseconds)", mvpd: holder.mvpd)
        }
        let isTold = holder.upstream.userIDSource == .attribute || profile.kind == .degraded || profile.kind == .temporary
        return isTold ? plain : scrambler.scramble(plain, mvpd: holder.mvpd)
    }
}

extension BridgeDevice {
    /// True when a token of the call says who the person is.
    var namesPerson: Bool { !subjectToken.isEmpty || !rokuToken.isEmpty }

    /// The device that calls.
    init(_ call: DeviceCall) {
        let device = call.device ?? DeviceInformation()
        self.init(
            id: call.deviceID, information: device, address: call.clientAddress, port: call.clientPort, isSecure: device.connectionSecure == "true",
            userAgent: call.userAgent)
        // Here a Roku token serves as a subject token too; an upstream gets each under the name that the app gave it.
        (visitor, rokuToken) = (call.visitorID, call.rokuToken)
        subjectToken = call.subjectToken == call.rokuToken ? "" : call.subjectToken
    }

    /// The device that a code or a session is of, where another one calls, or none.
    init(_ device: DeviceID, _ information: DeviceInformation, userAgent: String) {
        self.init(
            id: device.text, information: information, address: information.connectionIP, port: UInt32(information.connectionPort) ?? 0,
            isSecure: information.connectionSecure == "true", userAgent: userAgent)
    }
}

/// The identity of the person that calls for a session tell upstream, beside the device. It is sealed with the session.
struct UpstreamIdentity: Hashable, Sendable {
    /// `AP-TempPass-Identity`; empty: none.
    var temporaryPass = ""
    /// The platform's own id of the provider that it signed in at; empty: it did not.
    var partner = ""

    var isEmpty: Bool { temporaryPass.isEmpty && partner.isEmpty }

    /// `AP-Partner-Framework-Status` of a platform that lets the app ask, and is signed in at the provider (rest-v2 §1.3). It is said in the device's
    /// name: `synthesizePartnerStatus` allows it (bridge §11).
    static func partnerStatus(_ provider: String, until end: Timestamp) -> String {
        let text =
            #"{"frameworkPermissionInfo":{"accessStatus":"granted"},"# + #""frameworkProviderInfo":{"id":\#(JsonWriter.quoted(provider)),"#
            + #""expirationDate":"\#(end.milliseconds)"}}"#
        return Base64.standard.encode(Array(text.utf8))
    }

    /// The facts about the person that a trial gets, by digests alone (bridge §10.1).
    /// - Parameter genericData: As it was sent; empty: nothing.
    /// - Returns: `AP-TempPass-Identity`; empty: none.
    /// - Throws: `invalid_request` for a text that names nobody.
    static func temporaryPass(_ genericData: String) throws(Fault) -> String {
        guard !genericData.isEmpty else { return "" }
        let users = try GenericData.users(in: genericData)
        let members = users.map { "\(JsonWriter.quoted($0.key)):\(JsonWriter.quoted($0.user.text))" }
        return Base64.standard.encode(Array("{\(members.joined(separator: ","))}".utf8))
    }
}

/// The text that is sealed: attributes, and what else there is, with a dot between.
extension UpstreamIdentity {
    private static let separator: Character = "."

    /// - Parameter attributes: In Base64.
    func sealable(with attributes: String) -> String {
        guard !isEmpty else { return attributes }
        return [attributes, temporaryPass, Base64.standard.encode(Array(partner.utf8))].joined(separator: String(Self.separator))
    }

    static func split(_ text: String) -> (attributes: String, identity: UpstreamIdentity) {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return (text, UpstreamIdentity()) }
        let partner = Base64.standard.decode(parts[2]).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        return (parts[0], UpstreamIdentity(temporaryPass: parts[1], partner: partner))
    }
}
