internal import Contracts
internal import FoundationEssentials
internal import Hummingbird
public import Logging
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
        /// A login at an upstream comes back in another browser than the one in which it was confirmed (bridge §7.3).
        case otherBrowser
        /// A test sign-in has ended, well or not.
        case testEnded
        /// The address of a test was opened before, or is over.
        case testOver
        /// A check of a logout failed.
        case logoutRefused
        case unavailable
        case failed
        case badRequest
        case notFound
        case methodNotAllowed
        case requestTimeout
    }

    private static let templates =
        ["entry", "providers", "confirm", "done", "continue", "notice", "errors", "head", "channel", "foot"] + DevicesPages.templates
        + ReferencePages.templates
    private static let assets = [
        "style.css": "text/css; charset=utf-8", "submit.js": script, "countdown.js": script, "picker.js": script,
        "docs.css": "text/css; charset=utf-8",
    ]
    private static let script = "text/javascript; charset=utf-8"

    /// The templates in each language, by its tag.
    private let libraries: [String: MustacheLibrary]
    let languages: Languages
    private let files: [String: StaticFile]
    /// The OpenAPI description of the gateway's addresses.
    let description: StaticFile
    private let apiReference: ApiReference
    private let policy: ContentPolicy
    /// False: the folder has no pages for operators, so that there is no console.
    let hasConsole: Bool

    /// - Parameters:
    ///   - folder: Holds `<name>.mustache`, the static files and `openapi.json`.
    ///   - publicOrigin: Decides whether logos may come over plain HTTP.
    ///   - languages: Folder with files of texts beside those that `folder` has; `nil`: none.
    ///   - logger: Told what an operator should correct in language files of his own.
    /// - Throws: `PagesProblem`, naming the file that is missing or broken.
    public init(folder: String, publicOrigin: String, languages folderOfLanguages: String? = nil, logger: Logger? = nil) throws {
        ScalarMarkup.install()
        var libraries: [String: MustacheLibrary] = [:]
        let sources = try Self.templates.map { (name: $0, text: try Self.text("\(folder)/\($0).mustache")) }
        languages = try Languages(folder: folder, additional: folderOfLanguages)
        for warning in languages.warnings { logger?.warning("gateway.languages", metadata: ["problem": "\(warning)"]) }
        for language in languages.all {
            var library = MustacheLibrary()
            for source in sources {
                let file = "\(folder)/\(source.name).mustache"
                try Self.register(try language.written(source.text, file: file), of: file, as: source.name, in: &library)
            }
            libraries[language.tag] = library
        }
        var files: [String: StaticFile] = [:]
        hasConsole = FileManager.default.fileExists(atPath: "\(folder)/console")
        if hasConsole {
            for name in Console.templates {
                let file = "\(folder)/console/\(name).mustache"
                try Self.register(
                    try Self.text(file), of: file, as: "console-\(name)", in: &libraries[Languages.standard, default: MustacheLibrary()])
            }
            files[Console.styleSheet] = StaticFile(content: try Self.text("\(folder)/console/\(Console.styleSheet)"), type: "text/css; charset=utf-8")
        }
        for (name, type) in Self.assets { files[name] = StaticFile(content: try Self.text("\(folder)/\(name)"), type: type) }
        let text = try Self.text("\(folder)/openapi.json")
        description = StaticFile(content: text, type: "application/json; charset=utf-8")
        apiReference = ApiReference(text)
        self.libraries = libraries
        self.files = files
        policy = ContentPolicy(allowsPlainLogos: publicOrigin.hasPrefix("http:"))
    }

    private static func register(_ text: String, of file: String, as name: String, in library: inout MustacheLibrary) throws {
        do { try library.register(ScalarMarkup.pragma + text, named: name) } catch let error as MustacheTemplate.ParserError {
            throw PagesProblem(description: "page template \(file) is broken: \(error.error)")
        }
    }

    /// Whom a page is for.
    func reader(_ exchange: Exchange) -> PageReader { PageReader(languages, exchange) }

    /// For people who read English: engineers and operators.
    var english: PageReader { PageReader(languages.english) }

    /// - Parameters:
    ///   - reader: Whom it is for; `nil`: whoever reads English.
    ///   - look: Of the channel that the page is about.
    ///   - policy: The usual one when `nil`.
    ///   - holdsNoSecret: It may be compressed; see `Gzip`.
    func render(
        _ template: String, _ content: [String: Any], status: HTTPResponse.Status, for reader: PageReader? = nil, look: ChannelLook? = nil,
        policy: String? = nil, allowsScript: Bool = false, holdsNoSecret: Bool = false
    ) -> Response {
        let reader = reader ?? english
        var content = content
        if let look { content["look"] = look.content }
        var fields = fields(policy ?? (allowsScript ? self.policy.scripted : self.policy.page), reader.language)
        if let look, !look.style.isEmpty {
            content["colors"] = ["style": look.style]
            fields[.contentSecurityPolicy] = ContentPolicy.allowing(look.styleSource, in: fields[.contentSecurityPolicy] ?? "")
        }
        var body = html(template, content, reader)
        if let cookie = reader.cookie { fields.append(.init(name: .setCookie, value: cookie)) }
        if holdsNoSecret, reader.acceptsGzip, let compressed = Gzip.compressed(body) {
            body = compressed
            fields[.contentEncoding] = "gzip"
        }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    private func html(_ template: String, _ content: [String: Any], _ reader: PageReader) -> ByteBuffer {
        var content = content
        if reader.address != nil, languages.all.count > 1 {
            content["switch"] = [
                "languages": languages.all.filter { $0.tag != reader.language.tag }.map { language in
                    ["tag": language.tag, "name": language.name, "address": reader.address(in: language.tag) ?? ""]
                }
            ]
        }
        // The library and the template are there: `init` loaded each of them.
        return ByteBuffer(string: libraries[reader.language.tag]?.render(content, withTemplate: template) ?? "")
    }

    private func fields(_ policy: String, _ language: PageLanguage) -> HTTPFields {
        [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .contentSecurityPolicy: policy, .contentLanguage: language.tag,
        ]
    }

    /// The page that says what happened, for many answers, in each language by its tag: without a number to quote.
    func notice(_ notice: Notice) -> [String: (fields: HTTPFields, body: ByteBuffer)] {
        let pages = languages.all.map { ($0.tag, (fields(policy.page, $0), html("notice", [notice.rawValue: true], PageReader($0)))) }
        return Dictionary(uniqueKeysWithValues: pages)
    }

    /// A page of the API's reference.
    /// - Parameter origin: Of the settings, for examples.
    func reference(_ name: String, origin: String) -> Response? {
        apiReference.page(name, origin: origin) { html($0, $1, english) }.map { page in
            Response(status: .ok, headers: fields(policy.page, english.language), body: ResponseBody(byteBuffer: page))
        }
    }

    /// - Parameter trace: What a person quotes to support.
    func message(_ notice: Notice, trace: String, for reader: PageReader, choice: [String: String]? = nil) -> Response {
        var content: [String: Any] = [notice.rawValue: true, "trace": trace]
        if let choice { content["choice"] = choice }
        var response = render("notice", content, status: notice.status, for: reader)
        if notice.status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        return response
    }

    /// The same for whoever sent the request; a sign-in that failed can be tried again where it began at our own pages.
    func message(_ notice: Notice, trace: String? = nil, _ exchange: Exchange) -> Response {
        let choice = notice == .signInRefused ? PendingActivation(exchange)?.choice : nil
        return message(notice, trace: trace ?? exchange.facts.trace.traceID, for: reader(exchange), choice: choice)
    }

    /// - Parameter content: Of the template `devices-confirm`.
    func confirmation(_ content: [String: Any], _ exchange: Exchange) -> Response {
        render("devices-confirm", content, status: .ok, for: reader(exchange), policy: policy.leaving)
    }

    /// - Parameter content: Of the template `confirm`.
    func confirmSignIn(_ content: [String: Any], _ look: ChannelLook, _ exchange: Exchange) -> Response {
        render("confirm", content, status: .ok, for: reader(exchange), look: look, policy: policy.leaving)
    }

    /// The form that carries the browser to the MVPD, by script or by its button.
    func continueToProvider(_ start: SignInStart, _ exchange: Exchange) -> Response {
        let fields = start.fields.map { ["name": $0.name, "value": $0.value] }
        return render("continue", ["url": start.url, "fields": fields], status: .ok, for: reader(exchange), policy: policy.handover)
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
        case .loggedOut, .testEnded: .ok
        case .signInRefused, .appleRefused, .formRefused, .otherBrowser, .logoutRefused, .badRequest: .badRequest
        case .noSamlMessage, .unavailable: .serviceUnavailable
        case .failed: .internalServerError
        case .notFound, .testOver: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        }
    }
}
