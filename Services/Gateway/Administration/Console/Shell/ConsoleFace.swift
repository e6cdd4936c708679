internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of the console: pages that say what went wrong, and what to do (dashboard §7).
struct ConsoleFace: GuardedFace {
    private let pages: Pages
    private let overloaded: (fields: HTTPFields, body: ByteBuffer)

    init(_ pages: Pages) {
        self.pages = pages
        overloaded = pages.notice(.unavailable)[Languages.standard] ?? ([:], ByteBuffer())
    }

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let trace = exchange.facts.trace.traceID
        if let refusal = error as? AdministrationError {
            return page(refusal.status == .notFound ? .notFound : .invalid, trace: trace, words: refusal.message)
        }
        switch fault.code {
        case .notFound: return page(.notFound, trace: trace)
        case .insufficientRole: return page(.notAllowed, trace: trace)
        case .accessDenied: return Console.seeOther(ConsoleSignInPages.path)
        case .invalidRequest: return page(.invalid, trace: trace, words: fault.message)
        case .unimplemented: return page(.notOffered, trace: trace)
        case let code where code.isTransient: return page(.unavailable, trace: trace)
        default: return page(.failed, trace: trace)
        }
    }

    func reply(to problem: BodyProblem, _ exchange: Exchange) -> Response {
        page(problem == .tooLarge ? .tooLarge : .incomplete, trace: exchange.facts.trace.traceID)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response { page(.methodNotAllowed, trace: exchange.facts.trace.traceID) }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { page(.notFound, trace: facts.trace.traceID) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) { overloaded }

    func stranger(_ refusal: AdministrationNames.Refusal, trace: String) -> Response {
        page(refusal == .foreignHost ? .foreignHost : .foreignOrigin, trace: trace)
    }

    /// A page that only says what happened.
    enum Notice: String {
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
    private func page(_ notice: Notice, trace: String, words: String = "") -> Response {
        guard pages.hasConsole else { return pages.message(.notFound, trace: trace, for: pages.english) }
        var content: [String: Any] = [notice.rawValue: true, "trace": trace]
        if !words.isEmpty { content["words"] = words }
        return Console.html(pages, "problem", content, status: notice.status)
    }
}
