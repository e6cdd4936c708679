internal import Hummingbird

/// `GET /auth/keys`.
struct KeysEndpoint: Sendable {
    let memory: AppleMemory

    func answer(_ request: AppleRequest) -> AppleAnswer {
        let (document, tag, age) = memory.access { ($0.keys.document, $0.keys.tag, $0.keysMaxAge) }
        let headers: HTTPFields = [.eTag: tag, .cacheControl: "max-age=\(age)"]
        if request.headers[.ifNoneMatch] == tag { return AppleAnswer(status: .notModified, headers: headers, outcome: "unchanged") }
        var answer = AppleAnswer(status: .ok, headers: headers, body: Array(document.utf8), outcome: "told")
        answer.headers[.contentType] = "application/json"
        return answer
    }
}
