internal import Contracts
internal import GatewayEdge

/// What a device has at MVPDs, by their ids (rest-v2 §4).
struct ProfileDocument {
    let facts: RequestFacts

    func document(_ profiles: Profiles) -> Document {
        let shown = profiles.profiles.compactMap { profile in
            profile.session.map { Document.Member($0.mvpd, .object(members(profile, $0))) }
        }
        return Document("profiles", [.init("profiles", .object(shown))])
    }

    private func members(_ profile: Profile, _ session: Session) -> [Document.Member] {
        [
            .init("notBefore", .number(session.createdAtMilliseconds)), .init("notAfter", .number(session.expiresAtMilliseconds)),
            .init("issuer", .text(Self.issuer(session))), .init("type", .text(Self.type(session.kind))),
            .init("attributes", .object(attributes(profile.metadata ?? UserMetadata(), session))),
        ]
    }

    private static func type(_ kind: SessionKind) -> String {
        switch kind {
        case .regular, .automatic, .unrecognized: "regular"
        case .platform: "appleSSO"
        case .shared: "platformSSO"
        case .serviceToken: "serviceTokenSSO"
        case .tempPass: "temporary"
        case .degraded: "degraded"
        }
    }

    private static func issuer(_ session: Session) -> String {
        switch session.kind {
        case .tempPass, .degraded: "Adobe"
        case .platform: "Apple"
        case .regular, .automatic, .shared, .serviceToken, .unrecognized: session.mvpd
        }
    }

    /// The user's id is always there, a text whatever the MVPD sent (clients §4.11). An attribute that nobody could encrypt says so in its place
    /// (clients §4.12).
    private func attributes(_ metadata: UserMetadata, _ session: Session) -> [Document.Member] {
        let encrypted = Set(metadata.encrypted.map { OctetText($0) })
        var members = metadata.data.compactMap { entry -> Document.Member? in
            guard let value = entry.value else { return nil }
            let state = encrypted.contains(OctetText(entry.key)) ? "enc" : "plain"
            return .init(entry.key, .object([.init("value", Self.value(value, of: entry.key)), .init("state", .text(state))]))
        }
        if !members.contains(where: { $0.name == "userID" }), !metadata.unsealed.contains("userID") {
            members.insert(.init("userID", .object([.init("value", .text(session.userID)), .init("state", .text("plain"))])), at: 0)
        }
        let row = V2Errors.row(for: .init(rawValue: "invalid_configuration_user_metadata_certificate"))
        members += metadata.unsealed.map { key in
            let error = V2Face.document(row, message: "There is no certificate that the attribute could be encrypted to.", facts)
            return .init(key, .object([.init("state", .text("enc")), .init("error", .object(error.members))]))
        }
        return members
    }

    private static func value(_ value: MetadataEntry.Value, of key: String) -> Document.Value {
        if key == "userID", case .number(let number) = value { return .text(String(number)) }
        return MetadataEndpoint.value(value)
    }
}
