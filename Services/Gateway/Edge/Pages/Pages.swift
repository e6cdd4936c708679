package import Faults
internal import FoundationEssentials
package import Hummingbird
public import Logging
internal import Mustache
package import NIOCore

/// Serves the files of one folder: templates of the HTML that browsers see, static files, the description of the API.
public struct Pages: Sendable {
    /// A page that only says what happened.
    package enum Notice: String, CaseIterable, Sendable {
        /// A check of a sign-in failed: neutral on purpose (mvpd §2.6).
        case signInRefused
        /// A registration code that is unknown, has ended or was used: one text for all, so that nobody learns which codes there were (dashboard §8).
        case codeUnknown
        /// Nobody can sign in at the MVPD for the channel now.
        case providerUnavailable
        case tooManyAttempts
        case noSamlMessage
        /// The same for Sign in with Apple.
        case appleRefused
        /// A form that did not come from our own page, or of a session that is over.
        case formRefused
        /// The same for the page that asks before a sign-in begins.
        case confirmationRefused
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
        ["entry", "providers", "confirm", "done", "continue", "notice", "errors", "head", "channel", "foot"]
        + ["devices", "devices-confirm", "devices-open", "devices-sign-in"]
        + ["docs-top", "docs-bottom", "docs-side", "docs-prose", "docs-type", "docs-index", "docs-group", "docs-schemas"]
    private static let consoleTemplates = [
        "top", "bottom", "fields", "changes", "refused", "pager", "sign-in", "sign-in-refused", "carry", "problem", "home", "list", "entry", "edit",
        "json", "create", "draft", "history", "version", "promote", "audit", "sessions", "sign-ins", "sign-in-report", "sign-in-checks",
        "sign-in-watch", "degradation", "degrade", "connect", "test-sign-in", "usage", "report", "temp-pass", "support",
        "ids", "id-inputs", "upstream", "upstream-trail", "upstream-check", "upstream-offers", "upstream-reset",
    ]
    private static let consoleStyleSheet = "console.css"
    private static let assets = [
        "style.css": "text/css; charset=utf-8", "submit.js": script, "countdown.js": script, "picker.js": script,
        "docs.css": "text/css; charset=utf-8", "docs.js": script,
    ]
    static let script = "text/javascript; charset=utf-8"

    /// The templates in each language, by its tag.
    private let libraries: [String: MustacheLibrary]
    package let languages: Languages
    private let files: [String: StaticFile]
    /// The OpenAPI description of the gateway's addresses.
    package let description: StaticFile
    package let policy: ContentPolicy
    /// The script for pages of programmers; `nil` where the folder has none.
    package let webSdk: WebSdkScripts?
    /// False: the folder has no pages for operators, so that there is no console.
    package let hasConsole: Bool

    /// - Parameters:
    ///   - folder: Holds `<name>.mustache`, the static files and `openapi.json`.
    ///   - publicOrigin: Decides whether logos may come over plain HTTP.
    ///   - languages: Folder with files of texts beside those that `folder` has; `nil`: none.
    ///   - logger: Told what an operator should correct in language files of his own.
    /// - Throws: `PagesError`, naming the file that is missing or broken.
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
            for name in Self.consoleTemplates {
                let file = "\(folder)/console/\(name).mustache"
                try Self.register(
                    try Self.text(file), of: file, as: "console-\(name)", in: &libraries[Languages.standard, default: MustacheLibrary()])
            }
            files[Self.consoleStyleSheet] = StaticFile(
                content: try Self.text("\(folder)/console/\(Self.consoleStyleSheet)"), type: "text/css; charset=utf-8")
        }
        for (name, type) in Self.assets { files[name] = StaticFile(content: try Self.text("\(folder)/\(name)"), type: type) }
        let text = try Self.text("\(folder)/openapi.json")
        description = StaticFile(content: text, type: "application/json; charset=utf-8")
        webSdk = try WebSdkScripts(folder: "\(folder)/entitlement")
        self.libraries = libraries
        self.files = files
        policy = ContentPolicy(allowsPlainLogos: publicOrigin.hasPrefix("http:"))
    }

    private static func register(_ text: String, of file: String, as name: String, in library: inout MustacheLibrary) throws {
        do { try library.register(ScalarMarkup.pragma + text, named: name) } catch let error as MustacheTemplate.ParserError {
            throw PagesError(description: "page template \(file) is broken: \(error.error)")
        }
    }

    /// The reader of a page.
    package func reader(_ exchange: Exchange) -> PageReader { PageReader(languages, exchange) }

    /// For people who read English: engineers and operators.
    package var english: PageReader { PageReader(languages.english) }

    /// - Parameters:
    ///   - reader: The reader that it is for; `nil`: anybody who reads English.
    ///   - look: The look of the channel that the page is about.
    ///   - policy: The usual one when `nil`.
    ///   - holdsNoSecret: It may be compressed; see `Gzip`.
    package func render(
        _ template: String, _ content: [String: Any], status: HTTPResponse.Status, for reader: PageReader? = nil, look: PageLook? = nil,
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

    /// The octets of a page.
    package func html(_ template: String, _ content: [String: Any], _ reader: PageReader) -> ByteBuffer {
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
    package func notice(_ notice: Notice) -> [String: (fields: HTTPFields, body: ByteBuffer)] {
        let pages = languages.all.map { ($0.tag, (fields(policy.page, $0), html("notice", [notice.rawValue: true], PageReader($0)))) }
        return Dictionary(uniqueKeysWithValues: pages)
    }

    /// A page in English whose content is the same for everybody, with scripts of the gateway itself.
    package func standing(_ body: ByteBuffer) -> Response {
        Response(status: .ok, headers: fields(policy.scripted, english.language), body: ResponseBody(byteBuffer: body))
    }

    /// - Parameters:
    ///   - trace: The id that a person quotes to support.
    ///   - look: The look of the channel that the page is about.
    ///   - choice: Where a sign-in can be tried again.
    ///   - code: The error code of the API; `nil`: none is shown.
    ///   - status: Where it is not the notice's own.
    package func message(
        _ notice: Notice, trace: String, for reader: PageReader, look: PageLook? = nil, choice: [String: String]? = nil, code: String? = nil,
        status: HTTPResponse.Status? = nil
    ) -> Response {
        let status = status ?? notice.status
        var content: [String: Any] = [notice.rawValue: true, "trace": trace]
        if let choice { content["choice"] = choice }
        if let code { content["faultCode"] = code }
        var response = render("notice", content, status: status, for: reader, look: look)
        if status == .serviceUnavailable { response.headers[.retryAfter] = "1" }
        return response
    }

    /// A file that templates name, as it is.
    /// - Throws: `invalid_request` when its name is no text.
    package func asset(_ exchange: Exchange) throws(Fault) -> Response {
        guard let file = files[try exchange.captured("file")] else {
            return message(.notFound, trace: exchange.facts.trace.traceID, for: reader(exchange))
        }
        return file.response(ifNoneMatch: exchange.headers[.ifNoneMatch], acceptEncoding: exchange.headers[.acceptEncoding])
    }

    static func text(_ file: String) throws -> String {
        guard let content = FileManager.default.contents(atPath: file) else { throw PagesError(description: "page file \(file) cannot be read") }
        guard let text = String(validating: content, as: UTF8.self) else { throw PagesError(description: "page file \(file) is not UTF-8") }
        return text
    }
}

/// How a page looks where it does not look as usual.
package struct PageLook {
    /// The content of the template `channel`.
    let content: [String: Any]
    /// A style sheet; empty: the usual one alone.
    let style: String
    /// The source by which a content policy allows the style sheet (CSP 3 §2.3.1).
    let styleSource: String

    package init(content: [String: Any], style: String, styleSource: String) {
        self.content = content
        self.style = style
        self.styleSource = styleSource
    }
}

/// The pages cannot be used for this reason, in one line.
public struct PagesError: Error, CustomStringConvertible {
    public let description: String
}

extension Pages.Notice {
    package var status: HTTPResponse.Status {
        switch self {
        case .loggedOut, .testEnded: .ok
        case .signInRefused, .codeUnknown, .providerUnavailable, .appleRefused, .formRefused, .confirmationRefused, .otherBrowser, .logoutRefused,
            .badRequest:
            .badRequest
        case .tooManyAttempts: .tooManyRequests
        case .noSamlMessage, .unavailable: .serviceUnavailable
        case .failed: .internalServerError
        case .notFound, .testOver: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .requestTimeout: .requestTimeout
        }
    }
}

/// Content security policies of the pages.
package struct ContentPolicy: Sendable {
    /// Logos are wherever the MVPDs and channels keep them.
    package let page: String
    /// The same, with scripts of the gateway itself.
    var scripted: String { page + "; script-src 'self'" }
    /// A page whose form may lead to an address of a requestor: `form-action` would stop that, see below.
    package let leaving: String
    /// The handover to an MVPD posts to a foreign address, follows its redirects, and may be framed by a programmer's login page. Chromium applies
    /// `form-action` to redirects too, so it cannot be listed.
    package let handover = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'"

    /// - Parameter allowsPlainLogos: True when the gateway itself is on plain HTTP.
    init(allowsPlainLogos: Bool) {
        let images = "img-src 'self' data: https:\(allowsPlainLogos ? " http:" : "")"
        page = "default-src 'none'; style-src 'self'; \(images); form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        leaving = "default-src 'none'; style-src 'self'; \(images); frame-ancestors 'none'; base-uri 'none'"
    }

    /// The policy with one more source of styles.
    static func allowing(_ source: String, in policy: String) -> String { policy.replacing("style-src 'self'", with: "style-src 'self' \(source)") }
}
