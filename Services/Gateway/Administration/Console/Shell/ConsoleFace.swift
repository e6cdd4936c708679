internal import Faults
internal import Hummingbird

/// What goes wrong on pages of the console, as a page that says what to do (dashboard §7).
extension Refusals {
    /// A page that only says what happened.
    enum ConsoleNotice: String {
        case notFound
        case notAllowed
        case invalid
        case notOffered
        case unavailable
        case failed
        case methodNotAllowed
        case tooLarge
        case incomplete
        case foreignHost
        case foreignOrigin

        var status: HTTPResponse.Status {
            switch self {
            case .notFound: .notFound
            case .notAllowed, .foreignOrigin: .forbidden
            case .invalid, .incomplete: .badRequest
            case .notOffered: .notImplemented
            case .unavailable: .serviceUnavailable
            case .failed: .internalServerError
            case .methodNotAllowed: .methodNotAllowed
            case .tooLarge: .contentTooLarge
            case .foreignHost: .misdirectedRequest
            }
        }
    }

    /// - Parameter words: What the service said, where it helps.
    func consoleReply(_ notice: ConsoleNotice, trace: String, words: String = "") -> Response {
        guard pages.hasConsole else { return pages.message(.notFound, trace: trace, for: pages.english) }
        var content: [String: Any] = [notice.rawValue: true, "trace": trace]
        if !words.isEmpty { content["words"] = words }
        return Console.html(pages, "problem", content, status: notice.status)
    }

    func consoleReply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let trace = exchange.facts.trace.traceID
        if let refusal = error as? AdministrationError {
            return consoleReply(refusal.status == .notFound ? .notFound : .invalid, trace: trace, words: refusal.message)
        }
        switch fault.code {
        case .notFound: return consoleReply(.notFound, trace: trace)
        case .insufficientRole: return consoleReply(.notAllowed, trace: trace)
        case .accessDenied: return Console.seeOther(ConsoleSignInPages.path)
        case .invalidRequest: return consoleReply(.invalid, trace: trace, words: fault.message)
        case .unimplemented: return consoleReply(.notOffered, trace: trace)
        case let code where StatusTable.isTransient(code): return consoleReply(.unavailable, trace: trace)
        default: return consoleReply(.failed, trace: trace)
        }
    }
}
