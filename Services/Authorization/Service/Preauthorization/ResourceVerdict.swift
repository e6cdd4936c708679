internal import Contracts
internal import Faults

/// The outcome of a preauthorization for one resource.
enum ResourceVerdict: Hashable, Sendable {
    case permitted
    case denied(Denial)
    /// The MVPD did not say: not authorized, and worth another try (mvpd §4.4).
    case unanswered(Fault.Code)

    init(_ decision: MvpdDecision) {
        switch decision {
        case .permit: self = .permitted
        case .deny(let denial): self = .denied(denial)
        }
    }

    func answer(_ resource: RequestedResource) -> PreauthorizedResource {
        switch self {
        case .permitted: PreauthorizedResource(id: resource.text, authorized: true)
        case .denied(let denial):
            PreauthorizedResource(id: resource.text, authorized: false, refusal: Self.refusal(denial.code, denial.details))
        case .unanswered(let code): PreauthorizedResource(id: resource.text, authorized: false, refusal: Self.refusal(code, nil))
        }
    }

    /// A plain denial has a code of its own here (rest-v1 §3.16).
    private static func refusal(_ code: Fault.Code, _ details: String?) -> ResourceRefusal {
        let code = code == .authorizationDeniedByMvpd ? .preauthorizationDeniedByMvpd : code
        return ResourceRefusal(code: code.rawValue, details: details ?? "")
    }
}
