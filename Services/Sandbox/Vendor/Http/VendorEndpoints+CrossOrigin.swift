internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird

/// Calls of web applications (rest-v2 §1.1, rest-v1 §2.1).
extension UpstreamEndpoints {
    private static let headers = [
        "Authorization", "Content-Type", "AP-Device-Identifier", "X-Device-Info", "AP-TempPass-Identity", "AP-Partner-Framework-Status",
        "AP-Visitor-Identifier", "AD-Service-Token", "Adobe-Subject-Token",
    ]

    /// What a browser asks before it calls: no token, no throttle.
    func preflight(_ request: Request) -> Response {
        var response = crossOrigin(request, Response(status: .noContent))
        if response.headers[.accessControlAllowOrigin] != nil {
            response.headers[.accessControlAllowMethods] = "POST,GET,OPTIONS,DELETE"
            response.headers[.accessControlAllowHeaders] = Self.headers.joined(separator: ",")
        }
        return response
    }

    /// Lets pages of the service providers' domains read the answer; a stranger's origin refuses nothing and gets no header (clients §4.15).
    func crossOrigin(_ request: Request, _ response: Response) -> Response {
        guard let origin = request.headers[.origin], let url = URL(string: origin), url.scheme == "https", let host = url.host()?.lowercased(),
            memory.access({ $0.catalogue.serviceProviders.contains { RedirectAddress.lies(host, in: $0.domains) } })
        else { return response }
        var response = response
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.vary] = "Origin"
        return response
    }
}
