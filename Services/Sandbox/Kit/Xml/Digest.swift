internal import CSandboxXml

enum Digest {
    static func sha256(_ octets: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        csandbox_sha256(octets, octets.count, &digest)
        return digest
    }
}

extension Certificate {
    /// Modulus and exponent of the RSA key, big-endian.
    func publicNumbers() throws(XmlRefusal) -> (modulus: [UInt8], exponent: [UInt8]) {
        let modulus = try XmlRefusal.octets { csandbox_key_number(pointer, "n", $0) }
        let exponent = try XmlRefusal.octets { csandbox_key_number(pointer, "e", $0) }
        return (modulus, exponent)
    }
}
