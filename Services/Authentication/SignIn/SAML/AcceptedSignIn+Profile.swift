internal import Contracts
internal import SamlProfile

extension AcceptedSignIn {
    /// The metadata key by which an MVPD tells that it recognised the home network (mvpd §2.5).
    private static let homeBasedKey = "hba_status"

    init(_ assertion: VerifiedAssertion) {
        let nameID = assertion.nameID
        // Without a NameID the value is empty: the session is then not ended at the MVPD.
        let name = SubjectName(
            value: nameID?.value.rawValue ?? "", format: nameID?.format ?? "", nameQualifier: nameID?.nameQualifier ?? "",
            serviceProviderQualifier: nameID?.spNameQualifier ?? "", serviceProvidedID: nameID?.spProvidedID ?? "",
            sessionIndex: assertion.sessionIndex ?? "")
        let isHomeBased = assertion.attributes.contains { $0.key == Self.homeBasedKey && $0.value == .boolean(true) }
        replay = SignInCompletion.Replay(
            issuer: assertion.replayKey.issuer, assertionID: assertion.replayKey.assertionID, expiresAt: assertion.replayKey.expiresAt)
        subject = UpstreamSubject(
            userID: assertion.userID.rawValue, name: name, isHomeBased: isHomeBased, attributes: assertion.attributes.flatMap(\.contract))
        sessionEnd = assertion.sessionNotOnOrAfter
        attributeNames = assertion.attributeNames
    }
}

extension MappedAttribute {
    /// Booleans become `true` and `false`; the parts of an object become keys of their own, such as `maxRating.VCHIP`.
    fileprivate var contract: [UserAttribute] {
        switch value {
        case .string(let text): [UserAttribute(key: key, values: [text])]
        case .boolean(let isTrue): [UserAttribute(key: key, values: [isTrue ? "true" : "false"])]
        case .list(let texts): [UserAttribute(key: key, values: texts)]
        case .object(let parts):
            parts.sorted { $0.key < $1.key }.map { UserAttribute(key: "\(key).\($0.key)", values: [$0.value]) }
        }
    }
}
