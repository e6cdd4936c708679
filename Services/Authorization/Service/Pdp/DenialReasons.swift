internal import Faults

/// Why an MVPD denied, as its reason-code assignment says (mvpd §4.2): the public code's own name or a short form of it; letter case,
/// blanks, `-` and `_` are alike.
enum ReasonCode {
    /// - Returns: `nil` for a reason that has no code of its own.
    static func code(_ reason: String) -> Fault.Code? {
        codes[String(reason.lowercased().filter { !" -_".contains($0) })]
    }

    private static let codes: [String: Fault.Code] = [
        "identitynotrecognizedbymvpd": .identityNotRecognizedByMvpd, "identitynotrecognized": .identityNotRecognizedByMvpd,
        "authorizationdeniedbyhbapolicies": .authorizationDeniedByHbaPolicies, "hbapolicies": .authorizationDeniedByHbaPolicies,
        "hbapolicy": .authorizationDeniedByHbaPolicies,
        "authorizationdeniedbysessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "sessioninvalidated": .authorizationDeniedBySessionInvalidated,
        "authorizationdeniedbyparentalcontrols": .authorizationDeniedByParentalControls,
        "parentalcontrols": .authorizationDeniedByParentalControls,
    ]
}
