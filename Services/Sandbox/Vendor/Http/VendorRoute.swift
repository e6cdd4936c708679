internal import SandboxKit

/// The operation that a request asks for.
enum VendorRoute: Sendable, Equatable {
    /// With the decoded parts of the path.
    case found(VendorOperation, [String: String])
    /// The path is known; these are its methods (rest-v2 §1.1).
    case wrongMethod(allowed: [String])
    case unknown

    private static let table: [(operation: VendorOperation, method: String, pattern: [String])] = [
        (.register, "POST", ["o", "client", "register"]),
        (.token, "POST", ["o", "client", "token"]),
        (.authenticate, "GET", ["api", "v2", "authenticate", "{sp}", "{code}"]),
        (.configuration, "GET", ["api", "v2", "{sp}", "configuration"]),
        (.createSession, "POST", ["api", "v2", "{sp}", "sessions"]),
        (.partnerSession, "POST", ["api", "v2", "{sp}", "sessions", "sso", "{partner}"]),
        (.resumeSession, "POST", ["api", "v2", "{sp}", "sessions", "{code}"]),
        (.readSession, "GET", ["api", "v2", "{sp}", "sessions", "{code}"]),
        (.profiles, "GET", ["api", "v2", "{sp}", "profiles"]),
        (.profileByCode, "GET", ["api", "v2", "{sp}", "profiles", "code", "{code}"]),
        (.partnerProfile, "POST", ["api", "v2", "{sp}", "profiles", "sso", "{partner}"]),
        (.profile, "GET", ["api", "v2", "{sp}", "profiles", "{mvpd}"]),
        (.authorize, "POST", ["api", "v2", "{sp}", "decisions", "authorize", "{mvpd}"]),
        (.preauthorize, "POST", ["api", "v2", "{sp}", "decisions", "preauthorize", "{mvpd}"]),
        (.logout, "GET", ["api", "v2", "{sp}", "logout", "{mvpd}"]),
        (.signIn, "GET", ["mvpd", "{mvpd}", "sign-in"]),
        (.signIn, "POST", ["mvpd", "{mvpd}", "sign-in"]),
        (.mvpdLogout, "GET", ["mvpd", "{mvpd}", "logout"]),
        (.resetTempPass, "DELETE", ["reset-tempass", "v3", "reset"]),
        (.resetTempPassByIdentity, "DELETE", ["reset-tempass", "v3", "reset", "generic"]),
    ]

    /// - Parameters:
    ///   - method: As in the request.
    ///   - path: Still encoded, without the query; a slash at its end is accepted (rest-v2 §1.1).
    init(method: String, path: String) {
        guard let parts = Self.parts(path) else {
            self = .unknown
            return
        }
        var allowed: [String] = []
        for route in Self.table {
            guard let parameters = Self.parameters(parts, route.pattern) else { continue }
            if route.method == method {
                self = .found(route.operation, parameters)
                return
            }
            allowed.append(route.method)
        }
        self = allowed.isEmpty ? .unknown : .wrongMethod(allowed: allowed)
    }

    private static func parts(_ path: String) -> [String]? {
        guard path.utf8.count <= 2048, path.hasPrefix("/") else { return nil }
        var parts: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let text = FormFields.percentDecoded(part) else { return nil }
            parts.append(text)
        }
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }

    private static func parameters(_ parts: [String], _ pattern: [String]) -> [String: String]? {
        guard parts.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, name) in zip(parts, pattern) {
            if name.hasPrefix("{") {
                parameters[String(name.dropFirst().dropLast())] = part
            } else if part != name {
                return nil
            }
        }
        return parameters
    }
}

/// The operations of a REST v2 server (rest-v2 §2), by the names that the stand-in's log and faults have for them.
enum VendorOperation: String, Sendable, Codable, CaseIterable {
    /// `/o/client/…`
    case register, token
    case configuration
    case createSession, resumeSession, readSession
    /// The addresses that browsers open: the start of a login, the MVPD's page, its logout.
    case authenticate, signIn, mvpdLogout
    case profiles, profile, profileByCode
    case authorize, preauthorize
    case logout
    case partnerSession, partnerProfile
    case resetTempPass, resetTempPassByIdentity

    /// True when people's browsers call it: its errors are pages (rest-v2 §2.5).
    var isForBrowsers: Bool { self == .authenticate || self == .signIn || self == .mvpdLogout }
}
