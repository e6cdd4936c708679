internal import Foundation
internal import Simulation
internal import TextEncodings

/// Requests of apps on REST v2, whole, as bytes.
extension GatewayCalls {
    /// - Parameter rest: The path behind the service provider.
    func get(v2 rest: String, _ client: Client, device: String, status: String? = nil) -> [UInt8] {
        Array("GET \(path(rest)) HTTP/1.1\r\n\(client.head)\(headers(device, status))\r\n".utf8)
    }

    func post(v2 rest: String, _ client: Client, device: String, status: String? = nil, form: [(String, String)]) -> [UInt8] {
        post(rest, client, headers(device, status) + Self.form, FormEncoding.encode(form))
    }

    /// Asks for a decision on one resource.
    func decide(_ kind: String, _ mvpd: String, _ resource: String, _ client: Client, device: String) -> [UInt8] {
        let body = String(decoding: (try? JSONSerialization.data(withJSONObject: ["resources": [resource]])) ?? Data(), as: UTF8.self)
        let headers = headers(device, nil) + "Content-Type: application/json;charset=utf-8\r\n"
        return post("decisions/\(kind)/\(FormEncoding.encode(mvpd))", client, headers, body)
    }

    private func post(_ rest: String, _ client: Client, _ headers: String, _ body: String) -> [UInt8] {
        Array("POST \(path(rest)) HTTP/1.1\r\n\(client.head)\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    private func path(_ rest: String) -> String { V2App.path(requestor, rest) }

    /// - Parameter status: Of the platform's framework.
    private func headers(_ device: String, _ status: String?) -> String {
        let (name, value) = StreamingApp.deviceIdentifier(device)
        return "\(name): \(value)\r\n" + (status.map { "AP-Partner-Framework-Status: \($0)\r\n" } ?? "")
    }
}
