internal import Cryptography

/// The `Authorization` header of a signed request, the way of apps from before client registration (clients §2):
/// `METHOD requestor_id=RQ, nonce=N, signature_method=HMAC-SHA1, request_time=T, request_uri=U, public_key=PK, signature=SIG`.
public struct SignedRequestHeader: Hashable, Sendable {
    /// The longest whole header, in octets.
    public static let longest = 8000

    /// `GET`, `POST` or `DELETE`.
    public let method: String
    public let requestorID: String
    public let nonce: String
    /// Milliseconds since 1970.
    public let time: Int64
    /// A path, its end, or a whole address; may hold commas and `=`.
    public let requestURI: String
    /// The signed text: everything before the last `, public_key=`.
    public let signedText: String
    public let publicKey: String
    /// 20 octets.
    public let signature: [UInt8]

    private static let methods: Set<OctetText> = ["GET", "POST", "DELETE"]
    private static let names = ["requestor_id=", "nonce=", "signature_method=", "request_time=", "request_uri="].map { Array($0.utf8) }
    /// Index in `names` of the field that may hold commas.
    private static let addressField = 4

    /// True when the text begins like such a header: with a method and a blank.
    public static func isMeant(_ header: String) -> Bool {
        methods.contains { header.utf8.starts(with: $0.text.utf8) && header.utf8.dropFirst($0.text.utf8.count).first == 0x20 }
    }

    /// - Returns: `nil` when it is longer than 8000 octets, a field is missing or present twice, or has an invalid form.
    public init?(_ header: String) {
        let octets = Array(header.utf8)
        guard octets.count <= Self.longest, octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }), Self.isMeant(header) else { return nil }
        guard let cut = Self.lastKey(octets), let tail = Self.tail(octets[cut.end...]) else { return nil }
        let head = octets[..<cut.start]
        guard let blank = head.firstIndex(of: 0x20), let places = Self.places(head[(blank + 1)...]) else { return nil }
        let values = places.map { place in place.map { String(decoding: Self.trimmed(head[$0]), as: UTF8.self) } }
        guard let requestor = values[0], let nonce = values[1], values[2] == "HMAC-SHA1", let time = values[3].flatMap(Self.milliseconds),
            let uri = values[Self.addressField], !requestor.isEmpty, !nonce.isEmpty, nonce.utf8.count <= 128
        else { return nil }
        method = String(decoding: head[..<blank], as: UTF8.self)
        (requestorID, self.nonce, requestURI, self.time) = (requestor, nonce, uri, time)
        signedText = String(decoding: head, as: UTF8.self)
        (publicKey, signature) = tail
    }

    /// The one place where the signed text ends, and where the key begins.
    private static func lastKey(_ octets: [UInt8]) -> (start: Int, end: Int)? {
        let mark = Array("public_key=".utf8)
        guard octets.count > mark.count else { return nil }
        var found: Int?
        for start in 0...octets.count - mark.count where octets[start] == mark[0] && octets[start..<start + mark.count].elementsEqual(mark) {
            guard found == nil else { return nil }
            found = start
        }
        guard let found, var comma = found > 0 ? found - 1 : nil else { return nil }
        while comma > 0, octets[comma] == 0x20 { comma -= 1 }
        return octets[comma] == UInt8(ascii: ",") ? (comma, found + mark.count) : nil
    }

    /// `PK, signature=SIG`.
    private static func tail(_ octets: ArraySlice<UInt8>) -> (String, [UInt8])? {
        guard let comma = octets.firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let key = trimmed(octets[..<comma])
        let rest = trimmed(octets[(comma + 1)...])
        let mark = Array("signature=".utf8)
        guard (8...64).contains(key.count), key.allSatisfy(isLetterOrDigit), rest.starts(with: mark) else { return nil }
        guard let signature = Base64.standard.decode(Array(trimmed(rest.dropFirst(mark.count)))),
            signature.count == HMACSHA1.byteCount
        else { return nil }
        return (String(decoding: key, as: UTF8.self), signature)
    }

    /// Returns where the values of `names` stand. A part that begins with no name belongs to the address before it, which may hold commas. The sender
    /// decides how many parts there are, so a part must cost no more than a look at its octets.
    private static func places(_ octets: ArraySlice<UInt8>) -> [Range<Int>?]? {
        var places = [Range<Int>?](repeating: nil, count: names.count)
        var last: Int?
        var start = octets.startIndex
        while start <= octets.endIndex {
            var end = start
            while end < octets.endIndex, octets[end] != UInt8(ascii: ",") { end += 1 }
            var own = start
            while own < end, octets[own] == 0x20 { own += 1 }
            if let field = names.firstIndex(where: { begins(octets, at: own, before: end, with: $0) }) {
                guard places[field] == nil else { return nil }
                places[field] = (own + names[field].count)..<end
                last = field
            } else if let last, last == addressField, let place = places[last] {
                places[last] = place.lowerBound..<end
            } else {
                return nil
            }
            start = end + 1
        }
        return places
    }

    private static func begins(_ octets: ArraySlice<UInt8>, at start: Int, before end: Int, with name: [UInt8]) -> Bool {
        guard end - start >= name.count else { return false }
        var index = 0
        while index < name.count, octets[start + index] == name[index] { index += 1 }
        return index == name.count
    }

    /// Milliseconds; with 10 digits they are seconds.
    private static func milliseconds(_ text: String) -> Int64? {
        guard (10...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else { return nil }
        return text.utf8.count == 10 ? number * 1000 : number
    }

    private static func trimmed(_ octets: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var octets = octets.drop { $0 == 0x20 }
        while octets.last == 0x20 { octets.removeLast() }
        return octets
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
    }
}
