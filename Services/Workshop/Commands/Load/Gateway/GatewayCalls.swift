internal import Foundation
internal import Simulation
internal import TextEncodings

/// Writes HTTP/1.1 requests to the gateway, whole, as bytes.
struct GatewayCalls: Sendable {
    /// `host:port`, or a name.
    let host: String
    let requestor: String
    static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

    /// The common part of all requests of one client; made once.
    struct Client: Sendable {
        let accessToken: String
        let head: String

        /// - Parameter hardware: Goes out as `X-Device-Info`.
        init(accessToken: String, host: String, hardware: SimulatedHardware) {
            self.init(accessToken: accessToken, authorization: "Bearer \(accessToken)", host: host, hardware: hardware)
        }

        /// One without an access token.
        init(authorization: String, host: String, hardware: SimulatedHardware) {
            self.init(accessToken: "", authorization: authorization, host: host, hardware: hardware)
        }

        private init(accessToken: String, authorization: String, host: String, hardware: SimulatedHardware) {
            self.accessToken = accessToken
            head =
                "Host: \(host)\r\nUser-Agent: boxoffice-load\r\nAccept: application/json\r\nAuthorization: \(authorization)\r\n"
                + "X-Device-Info: \(hardware.information)\r\n"
        }
    }

    /// A request of an app.
    func get(_ path: String, _ client: Client) -> [UInt8] { Array("GET \(path) HTTP/1.1\r\n\(client.head)\r\n".utf8) }

    func post(_ path: String, _ client: Client, form: String) -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\n\(client.head)\(Self.form)Content-Length: \(form.utf8.count)\r\n\r\n\(form)".utf8)
    }

    /// A request of a browser.
    func browse(_ path: String, cookies: String = "") -> [UInt8] { Array("GET \(path) HTTP/1.1\r\n\(browser(cookies))\r\n".utf8) }

    func submit(_ path: String, cookies: String, form: String) -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\n\(browser(cookies))\(Self.form)Content-Length: \(form.utf8.count)\r\n\r\n\(form)".utf8)
    }

    private func browser(_ cookies: String) -> String {
        "Host: \(host)\r\nUser-Agent: Mozilla/5.0 (boxoffice-load)\r\nAccept: text/html\r\n" + (cookies.isEmpty ? "" : "Cookie: \(cookies)\r\n")
    }

    /// The parameters that name a device.
    func device(_ id: String, _ more: [(String, String)] = []) -> String {
        FormEncoding.encode([("requestor", requestor), ("deviceId", id)] + more)
    }
}
