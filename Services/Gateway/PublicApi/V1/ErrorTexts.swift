internal import Faults

/// Texts of refusals: the documented ones where there are any (rest-v1 §2.8), else the fault's own.
enum ErrorTexts {
    static func message(_ fault: Fault, at endpoint: Endpoint, status: Int) -> String {
        if endpoint == .checkAuthnByCode, status == 403 { return "Forbidden" }
        if endpoint == .sdkSession, status == 401 { return "Data not found" }
        switch fault.code {
        case .authenticationSessionExpired where endpoint == .checkAuthn: return "Authentication token expired"
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated:
            return byStatus[status] ?? "User not authenticated"
        case .authorizationNotFound, .authorizationExpired: return byStatus[status] ?? "User not authorized"
        case .invalidRegistrationCode where status == 404: return "Not Found"
        case .authorizationDeniedByMvpd: return "User not authorized"
        default: break
        }
        switch status {
        case 503: return "The service is temporarily unavailable."
        case 500: return "An internal fault occurred."
        default: return fault.message
        }
    }

    /// For a resource of a preauthorization.
    static func item(_ action: String) -> String {
        action == "retry" ? "The MVPD could not be asked." : "User not authorized"
    }

    private static let byStatus = [404: "Not Found", 410: "Gone"]
}
