internal import CatalogueFiles
internal import CommandKit
internal import Foundation
internal import NIOCore
internal import Simulation
internal import TextEncodings

/// A vendor's server that is asked for its public configuration. Its answer is bounded, and nothing else of it is kept.
struct VendorServer: Sendable {
    /// The vendor's own.
    static let usual = "https://api.auth.adobe.com"

    /// Platforms with a sign-in of their own, and how a device of each describes itself (rest-v1 §2.4).
    static let devices: KeyValuePairs<String, String> = [
        "ios": #"{"primaryHardwareType":"MobilePhone","model":"iPhone","manufacturer":"Apple","osName":"iOS","osFamily":"iOS","osVersion":"18.0"}"#,
        "tvos":
            #"{"primaryHardwareType":"SetTopBox","model":"AppleTV14,1","manufacturer":"Apple","osName":"tvOS","osFamily":"tvOS","osVersion":"18.0"}"#,
        "roku":
            #"{"primaryHardwareType":"SetTopBox","model":"4802X","manufacturer":"Roku","osName":"Roku OS","osFamily":"Roku OS","osVersion":"14.0"}"#,
        "fireTv":
            #"{"primaryHardwareType":"SetTopBox","model":"AFTKA","manufacturer":"Amazon","osName":"Android","osFamily":"Android","osVersion":"9"}"#,
    ]

    static var platforms: [String] { devices.map(\.key) }

    /// Scheme, host and port.
    let base: String
    let exchange: HTTPExchange
    /// An access token for REST API v2; nil: v1 is asked, without any.
    private var bearer: String?
    private let device = UUID().uuidString

    private static let mostRedirects = 3
    private static let mostWaits = 5

    init(base: String, exchange: HTTPExchange) {
        self.base = base
        self.exchange = exchange
    }

    // MARK: Access

    /// Asks with an access token that somebody has.
    /// - Throws: `CommandFailure` for what cannot stand in a header.
    mutating func use(bearer text: String) throws {
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure("the file holds no access token", advice: "it is one line of letters, digits, '.', '-' and '_'", exit: .usage)
        }
        bearer = token
    }

    /// Registers one client and gets an access token for it (rest-v1 §3.1, §3.2). Neither is written anywhere.
    /// - Throws: `CommandFailure` without anything of the statement, the client or the token.
    mutating func register(statement text: String) async throws {
        let statement = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let registration = try JSONSerialization.data(withJSONObject: ["software_statement": statement])
        let client = try await granted(
            "/o/client/register", type: "application/json", body: String(decoding: registration, as: UTF8.self), what: "the software statement")
        guard let id = client["client_id"] as? String, let secret = client["client_secret"] as? String else { throw unusable("/o/client/register") }
        let form = FormEncoding.encode([("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials")])
        let token = try await granted(
            "/o/client/token", type: "application/x-www-form-urlencoded", body: form, what: "the client that it has just registered")
        guard let access = token["access_token"] as? String else { throw unusable("/o/client/token") }
        try use(bearer: access)
    }

    private func granted(_ path: String, type: String, body: String, what: String) async throws -> [String: Any] {
        let headers = [("Content-Type", type), ("Accept", "application/json"), Self.information("ios")]
        let answer = try await send("POST", base + path, headers: headers, body: body)
        guard (200..<300).contains(answer.status) else {
            // One of the words of RFC 6749 §5.2 and RFC 7591 §3.2.2; whatever else stands there is not repeated.
            let word = (answer.object["error"] as? String).flatMap { $0.wholeMatch(of: /[a-z_]{1,64}/) != nil ? " (\($0))" : nil } ?? ""
            throw CommandFailure("\(base) refuses \(what): \(answer.status)\(word)", advice: "is it of this vendor, with the scope api:client:v2?")
        }
        return answer.object
    }

    private func unusable(_ path: String) -> CommandFailure {
        CommandFailure("\(base)\(path) answers something else", advice: "is it the vendor's server?", exit: .unreachable)
    }

    // MARK: Configuration

    private static func information(_ platform: String) -> (String, String) {
        let text = devices.first { $0.key == platform }?.value ?? "{}"
        return ("X-Device-Info", Data(text.utf8).base64EncodedString())
    }

    private func path(_ requestor: String) -> String {
        let id = FormEncoding.encode(requestor)
        return bearer == nil ? "/api/v1/config/\(id)" : "/api/v2/\(id)/configuration"
    }

    /// - Parameters:
    ///   - requestor: An id.
    ///   - platform: One of ``platforms``.
    /// - Throws: `CommandFailure` when the server cannot be asked, does not know the requestor, or says something else.
    func configuration(of requestor: String, platform: String) async throws -> VendorConfiguration {
        var headers = [("Accept", bearer == nil ? "application/json, application/xml;q=0.5" : "application/json"), Self.information(platform)]
        if let bearer { headers += [("Authorization", "Bearer \(bearer)"), StreamingApp.deviceIdentifier(device)] }
        let source = "\(base)\(path(requestor))"
        for _ in 0..<Self.mostWaits {
            let answer = try await get(source, headers: headers)
            switch answer.status {
            case 200: return try VendorConfiguration(answer.body, from: source)
            // The vendor lets one call a second through, and names no time to wait (rest-v1 §2.7).
            case 429: try await Task.sleep(for: .seconds(2))
            case 400: throw CommandFailure("\(base) does not know the requestor \(requestor)", advice: "letter case counts", exit: .usage)
            case 401 where bearer != nil, 403 where bearer != nil:
                throw CommandFailure("\(base) refuses the access token: \(answer.status)", advice: "get another one, or pass --statement")
            default:
                throw CommandFailure(
                    "\(source) answered \(answer.status)",
                    advice: bearer == nil
                        ? "where v1 has ended, pass --statement for v2, or answers that you kept as FILEs" : "is it the vendor's server?",
                    exit: .unreachable)
            }
        }
        throw CommandFailure("\(base) answers 429 again and again", advice: "try it in a minute", exit: .unreachable)
    }

    private func get(_ address: String, headers: [(String, String)]) async throws -> HTTPAnswer {
        var address = address
        for _ in 0...Self.mostRedirects {
            let answer = try await send("GET", address, headers: headers, body: nil)
            guard [301, 302, 303, 307, 308].contains(answer.status), let location = answer.header("location") else { return answer }
            address = try Self.next(location, from: address)
        }
        throw CommandFailure("\(base) redirects again and again", advice: "name the right server with --base", exit: .unreachable)
    }

    /// Where a redirect leads, as long as that is the same server: nobody else is asked, and gets to see a token.
    /// - Throws: `CommandFailure` for another scheme, host or port.
    static func next(_ location: String, from address: String) throws -> String {
        guard let here = URL(string: address), let there = URL(string: location, relativeTo: here)?.absoluteURL, origin(here) == origin(there) else {
            let place = URL(string: location)?.host ?? "a place that cannot be read"
            throw CommandFailure(
                "the server redirects elsewhere, to \(place)", advice: "nothing is asked there; if that is the right one, name it with --base",
                exit: .unreachable)
        }
        return there.absoluteString
    }

    private static func origin(_ url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        return "\(scheme)://\(url.host?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    private func send(_ method: String, _ url: String, headers: [(String, String)], body: String?) async throws -> HTTPAnswer {
        do {
            return try await exchange.exchange(method, url, headers: headers, body: body.map { ByteBuffer(string: $0) }, timeout: exchange.timeout)
        } catch is NIOTooManyBytesError {
            throw CommandFailure("\(base) answers more than 4 MiB", advice: "no configuration is as long", exit: .unreachable)
        } catch {
            throw CommandFailure(
                "\(base) cannot be asked (\(PlainReason.of(error)))", advice: "after the vendor's end, pass answers that you kept as FILEs",
                exit: .unreachable)
        }
    }
}
