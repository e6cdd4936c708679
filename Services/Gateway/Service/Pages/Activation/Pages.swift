internal import Contracts
internal import FoundationEssentials
internal import Hummingbird
internal import Mustache
internal import NIOCore

/// What is served from files of one folder: templates of the HTML that browsers see, static files, the description of the API.
public struct Pages: Sendable {
    /// A page that only says what happened.
    enum Notice: String, CaseIterable, Sendable {
        /// A check of a sign-in failed: neutral on purpose (mvpd §2.6).
        case signInRefused
        case noSamlMessage
        /// The same for Sign in with Apple.
        case appleRefused
        /// A form that did not come from our own page, or of a session that is over.
        case formRefused
        case loggedOut
        /// A check of a logout failed.
        case logoutRefused
        case unavailable
        case failed
        case badRequest
        case notFound
        case methodNotAllowed
        case requestTimeout
    }

    private static let templates = ["entry", "providers", "confirm", "done", "continue", "notice", "errors", "head", "foot"] + DevicesPages.templates
    private static let assets = ["style.css": "text/css; charset=utf-8", "submit.js": script, "countdown.js": script]
    private static let script = "text/javascript; charset=utf-8"

    private let library: MustacheLibrary
    private let files: [String: StaticFile]
    /// The OpenAPI description of the gateway's addresses.
    let description: StaticFile
    private let policy: ContentPolicy
    /// False: the folder has no pages for operators, so that there is no console.
    let hasConsole: Bool

    /// - Parameters:
    ///   - folder: Holds `<name>.mustache`, the static files and `openapi.json`.
    ///   - publicOrigin: Decides whether logos may come over plain HTTP.
    /// - Throws: `PagesProblem`, naming the file that is missing or broken.
    public init(folder: String, publicOrigin: String) throws {
        ScalarMarkup.install()
        var library = MustacheLibrary()
        for name in Self.templates {
            let file = "\(folder)/\(name).mustache"
            try Self.register(file, as: name, in: &library)
        }
        var files: [String: StaticFile] = [:]
        hasConsole = FileManager.default.fileExists(atPath: "\(folder)/console")
        if hasConsole {
            for name in Console.templates { try Self.register("\(folder)/console/\(name).mustache", as: "console-\(name)", in: &library) }
            files[Console.styleSheet] = StaticFile(content: try Self.text("\(folder)/console/\(Console.styleSheet)"), type: "text/css; charset=utf-8")
        }
        for (name, type) in Self.assets { files[name] = StaticFile(content: try Self.text("\(folder)/\(name)"), type: type) }
        description = StaticFile(content: try Self.text("\(folder)/openapi.json"), type: "application/json; charset=utf-8")
        self.library = library
        self.files = files
        policy = ContentPolicy(allowsPlainLogos: publicOrigin.hasPrefix("http:"))
    }

    private static func register(_ file: String, as name: String, in library: inout MustacheLibrary) throws {
        do { try library.register(ScalarMarkup.pragma + (try text(file)), named: name) } catch let error as MustacheTemplate.ParserError {
            throw PagesProblem(description: "page template \(file) is broken: \(error.error)")
        }
    }

    func render(_ template: String, _ content: [String: Any], status: HTTPResponse.Status, policy: String? = nil, allowsScript: Bool = false)
        -> Response
    {
        let fields = fields(policy ?? (allowsScript ? self.policy.scripted : self.policy.page))
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: html(template, content)))
    }

    private func html(_ template: String, _ content: [String: Any]) -> ByteBuffer {
        // The template is there: `init` loaded each of them.
        ByteBuffer(string: library.render(content, withTemplate: template) ?? "")
    }

    private func fields(_ policy: String) -> HTTPFields {
        [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .contentSecurityPolicy: policy]
    }

    /// The page that says what happened, for many answers: without a number to quote.
    func notice(_ notice: Notice) -> (fields: HTTPFields, body: ByteBuffer) { (fields(policy.page), html("notice", [notice.rawValue: true])) }

    /// - Parameter trace: What a person quotes to support.
    func message(_ notice: Notice, trace: String) -> Response {
        var response = render("notice", [notice.rawValue: true, "trace": trace], status: notice.status)
        if notice.status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        return response
    }

    /// - Parameter content: Of the template `devices-confirm`.
    func confirmation(_ content: [String: Any]) -> Response {
        render("devices-confirm", content, status: .ok, policy: policy.leaving)
    }

    /// - Parameter content: Of the template `confirm`.
    func confirmSignIn(_ content: [String: Any]) -> Response { render("confirm", content, status: .ok, policy: policy.leaving) }

    /// The form that carries the browser to the MVPD, by script or by its button.
    func continueToProvider(_ start: SignInStart) -> Response {
        let fields = start.fields.map { ["name": $0.name, "value": $0.value] }
        return render("continue", ["url": start.url, "fields": fields], status: .ok, policy: policy.handover)
    }

    func file(_ name: String) -> StaticFile? { files[name] }

    private static func text(_ file: String) throws -> String {
        guard let content = FileManager.default.contents(atPath: file) else { throw PagesProblem(description: "page file \(file) cannot be read") }
        guard let text = String(validating: content, as: UTF8.self) else { throw PagesProblem(description: "page file \(file) is not UTF-8") }
        return text
    }
}

/// Why the pages cannot be used, in one line.
public struct PagesProblem: Error, CustomStringConvertible {
    public let description: String
}

extension Pages.Notice {
    var status: HTTPResponse.Status {
        switch self {
        case .loggedOut: .ok
        case .signInRefused, .appleRefused, .formRefused, .logoutRefused, .badRequest: .badRequest
        case .noSamlMessage, .unavailable: .serviceUnavailable
        case .failed: .internalServerError
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        }
    }
}
