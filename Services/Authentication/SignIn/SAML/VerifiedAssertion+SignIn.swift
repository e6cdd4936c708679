package import AuthenticationCore
internal import Contracts
package import SamlProfile

extension VerifiedAssertion {
    /// The metadata key by which an MVPD tells that it recognised the home network (mvpd §2.5).
    private static let homeBasedKey = "hba_status"

    /// What the store remembers of it, so that it is used once.
    package var replay: SignInCompletion.Replay {
        SignInCompletion.Replay(issuer: replayKey.issuer, assertionID: replayKey.assertionID, expiresAt: replayKey.expiresAt)
    }

    /// The person whom it names.
    var subject: ProviderSubject {
        // Without a NameID the value is empty: the session is then not ended at the MVPD.
        let name = SubjectName(
            value: nameID?.value.rawValue ?? "", format: nameID?.format ?? "", nameQualifier: nameID?.nameQualifier ?? "",
            serviceProviderQualifier: nameID?.spNameQualifier ?? "", serviceProvidedID: nameID?.spProvidedID ?? "",
            sessionIndex: sessionIndex ?? "")
        let isHomeBased = attributes.contains { $0.key == Self.homeBasedKey && $0.value == .boolean(true) }
        return ProviderSubject(userID: userID.rawValue, name: name, isHomeBased: isHomeBased, attributes: attributes.flatMap(\.contract))
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
