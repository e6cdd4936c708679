internal import Contracts
internal import Faults

/// Why an MVPD denied, as its reason-code assignment says (mvpd §4.2): by the endpoint's own table, else the public code's own name or a
/// short form of it; letter case, blanks, `-` and `_` are alike.
struct DenialReasons: Sendable {
    private let own: [DenialReason]

    init(_ own: [DenialReason] = []) { self.own = own }

    /// - Returns: `nil` for a reason that has no code of its own.
    func code(_ reason: String) -> Fault.Code? {
        let plain = Self.plain(reason)
        if let entry = own.first(where: { Self.plain($0.reason) == plain }) { return Self.codes[Self.plain(entry.code)] }
        return Self.codes[plain]
    }

    private static func plain(_ text: String) -> String { String(text.lowercased().filter { !" -_".contains($0) }) }

    private static let codes: [String: Fault.Code] = [
        "identitynotrecognizedbymvpd": .identityNotRecognizedByMvpd, "identitynotrecognized": .identityNotRecognizedByMvpd,
        "authorizationdeniedbyhbapolicies": .authorizationDeniedByHbaPolicies, "hbapolicies": .authorizationDeniedByHbaPolicies,
        "hbapolicy": .authorizationDeniedByHbaPolicies,
        "authorizationdeniedbysessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "sessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "authorizationdeniedbyparentalcontrols": .authorizationDeniedByParentalControls,
        "parentalcontrols": .authorizationDeniedByParentalControls, "authorizationdeniedbymvpd": .authorizationDeniedByMvpd,
    ]
}
