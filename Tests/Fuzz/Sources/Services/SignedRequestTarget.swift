internal import Cryptography
@testable internal import Tokens

/// The `Authorization` header of a signed request. Its fields keep their bounds and are read again from a header that is written of them. None is
/// accepted of which a signed octet was changed.
///
/// The first byte chooses: the header as it is, or what is signed, which the target signs; three bytes of an edit follow.
enum SignedRequestTarget {
    private static let secret = [UInt8](repeating: 0x4b, count: 32)
    private static let publicKey = "zGkQ0rZbTq7u1xWe"

    @Sendable static func run(_ input: inout Input) {
        let choice = input.byte()
        let edit = Edit(&input)
        var text = String(decoding: input.remainder(), as: UTF8.self)
        if choice & 1 != 0 { text += ", public_key=\(publicKey), signature=\(signature(text))" }
        guard let header = SignedRequestHeader(text) else { return }
        checkBounds(header, text)
        checkAgain(header)
        let isSigned = isSigned(header)
        check(!isSigned || choice & 1 != 0, "a header that nobody signed is signed")
        guard isSigned else { return }
        noteTaken()
        var changed = Array(text.utf8)
        guard edit.apply(to: &changed) != nil, let other = SignedRequestHeader(String(decoding: changed, as: UTF8.self)) else { return }
        check(!self.isSigned(other) || other == header, "a changed header is signed")
    }

    private static func signature(_ text: String) -> String { Base64.standard.encode(HMACSHA1.authenticate(Array(text.utf8), key: secret)) }

    private static func isSigned(_ header: SignedRequestHeader) -> Bool {
        header.publicKey == publicKey
            && ConstantTime.equal(HMACSHA1.authenticate(Array(header.signedText.utf8), key: secret), header.signature)
    }

    private static func checkBounds(_ header: SignedRequestHeader, _ text: String) {
        check(text.utf8.count <= SignedRequestHeader.longest && SignedRequestHeader.isMeant(text), "a header that is none")
        check(
            ["GET", "POST", "DELETE"].contains(header.method) && text.utf8.starts(with: header.signedText.utf8), "the signed text is not the header's"
        )
        check((1...128).contains(header.nonce.utf8.count) && !header.requestorID.isEmpty && header.time >= 0, "a field leaves its bounds")
        check((8...64).contains(header.publicKey.utf8.count) && header.signature.count == HMACSHA1.byteCount, "a key or signature leaves its bounds")
        for field in [header.requestorID, header.nonce, header.requestURI] {
            check(field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a control character")
        }
    }

    private static func checkAgain(_ header: SignedRequestHeader) {
        let time = String(header.time)
        let digits = String(repeating: "0", count: max(0, 13 - time.utf8.count)) + time
        let written = """
            \(header.method) requestor_id=\(header.requestorID), nonce=\(header.nonce), signature_method=HMAC-SHA1, request_time=\(digits), \
            request_uri=\(header.requestURI), public_key=\(header.publicKey), signature=\(Base64.standard.encode(header.signature))
            """
        guard written.utf8.count <= SignedRequestHeader.longest else { return }
        guard let again = SignedRequestHeader(written) else { fatalError("a header cannot be written again") }
        check(
            again.method == header.method && again.requestorID == header.requestorID && again.nonce == header.nonce && again.time == header.time
                && again.requestURI == header.requestURI && again.publicKey == header.publicKey && again.signature == header.signature,
            "a header changed on its way")
    }
}
