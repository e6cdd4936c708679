internal import Octets
internal import COpenSSL

/// The content of a new certificate.
struct CertificateOrder {
    /// RFC 5280 §4.1.2.2 allows 20 bytes; 16 random ones never repeat.
    private static let serialByteCount = 16

    var commonName: String
    var key: PrivateKey
    var usage: CertificateUsage
    var names: CertificateNames
    var validity: CertificateValidity

    /// - Parameter issuer: `nil` for a self-signed certificate.
    func issue(by issuer: CertifiedKey?) throws(CryptographyError) -> Certificate {
        guard (1...64).contains(commonName.unicodeScalars.count) else { throw .malformed("common name") }
        guard validity.notBefore < validity.notAfter else { throw .malformed("validity: it ends before it begins") }
        let alternatives = try alternativeNames()
        defer { boxoffice_names_free(alternatives) }
        var serial = SecureRandom.bytes(Self.serialByteCount)
        serial[0] = serial[0] & 0x7F | 0x40
        let pointer = commonName.withCString { name in
            serial.withUnsafeBufferPointer { serial in
                var request = BoxofficeCertificateRequest()
                request.issuer = issuer?.certificate.handle.pointer
                request.issuer_key = (issuer?.key ?? key).handle.pointer
                request.subject_key = key.handle.pointer
                request.common_name = name
                request.alternative_names = alternatives
                request.profile = usage.profile
                request.not_before = validity.notBefore.seconds
                request.not_after = validity.notAfter.seconds
                request.serial = serial.baseAddress
                request.serial_length = serial.count
                return boxoffice_issue_certificate(&request)
            }
        }
        guard let pointer else { throw .last("issuing a certificate") }
        return try Certificate(handle: CertificateHandle(owning: pointer))
    }

    /// - Returns: A list that the caller frees.
    private func alternativeNames() throws(CryptographyError) -> OpaquePointer? {
        let list = boxoffice_names_new()
        for name in names.dns {
            guard Self.isDNSName(name), boxoffice_names_add_dns(list, name) == 1 else {
                boxoffice_names_free(list)
                throw .malformed("DNS name \(name)")
            }
        }
        for address in names.addresses {
            guard boxoffice_names_add_address(list, address) == 1 else {
                boxoffice_names_free(list)
                ERR_clear_error()
                throw .malformed("IP address \(address)")
            }
        }
        return list
    }

    private static func isDNSName(_ name: String) -> Bool {
        (1...253).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(dnsCharacters.contains)
    }

    private static let dnsCharacters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-*".unicodeScalars)
}
