internal import FoundationEssentials
package import Hummingbird
internal import Mustache

/// The templates and files of `Services/Sandbox/Pages`.
package struct Pages: Sendable {
    private static let required = ["apple-answer", "apple-consent", "error", "index", "login", "response", "signed-out", "staff", "upstream-sign-in"]

    private let library: MustacheLibrary
    private let assets: [String: ByteBuffer]

    /// - Parameter folder: nil looks for `Services/Sandbox/Pages` above the program and above the working directory.
    /// - Throws: `SettingsFault` when a template is missing or broken.
    package init(folder: String?) async throws {
        guard let folder = folder ?? Self.standardFolder() else {
            throw SettingsFault(key: "pages", problem: "is missing, and no folder Services/Sandbox/Pages is near")
        }
        do {
            library = try await MustacheLibrary(directory: folder)
        } catch {
            throw SettingsFault(key: "pages", problem: "cannot be used: \(folder): \(error)")
        }
        if let missing = Self.required.first(where: { [library] in library.getTemplate(named: $0) == nil }) {
            throw SettingsFault(key: "pages", problem: "has no \(missing).mustache: \(folder)")
        }
        assets = Self.assets(in: folder + "/assets")
    }

    /// A page as an answer.
    /// - Parameter page: One of the templates that were checked when the pages were loaded.
    package func html(_ page: String, _ values: [String: Any], status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: Self.headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text(page, values))))
    }

    /// A page without its headers.
    package func text(_ page: String, _ values: [String: Any]) -> String { library.render(values, withTemplate: page) ?? "" }

    /// A file of the folder `assets` as an answer.
    package func asset(_ name: String) throws -> Response {
        guard let content = assets[name] else { throw HTTPError(.notFound) }
        let type = name.hasSuffix(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8"
        return Response(status: .ok, headers: [.contentType: type, .cacheControl: "max-age=300"], body: ResponseBody(byteBuffer: content))
    }

    /// The header fields of every page.
    package static let headers: HTTPFields = {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'"
        headers[.xContentTypeOptions] = "nosniff"
        return headers
    }()

    private static func assets(in folder: String) -> [String: ByteBuffer] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var assets: [String: ByteBuffer] = [:]
        for name in names { assets[name] = FileManager.default.contents(atPath: "\(folder)/\(name)").map { ByteBuffer(bytes: $0) } }
        return assets
    }

    private static func standardFolder() -> String? {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        for start in [program, FileManager.default.currentDirectoryPath + "/x"] {
            var folder = URL(filePath: start).deletingLastPathComponent()
            while folder.path() != "/" {
                let candidate = folder.appending(path: "Services/Sandbox/Pages").path(percentEncoded: false)
                if FileManager.default.fileExists(atPath: candidate + "/login.mustache") { return candidate }
                folder.deleteLastPathComponent()
            }
        }
        return nil
    }
}
