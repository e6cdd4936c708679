/// The registration record in XML (rest-v1 §3.4): a prefixed root, children without a namespace, and in `info` only what the published schema allows.
enum RecordSchema {
    static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:r="model.mvc.reggie.pass.adobe.com"
            targetNamespace="model.mvc.reggie.pass.adobe.com" elementFormDefault="unqualified">
          <xs:simpleType name="uuid"><xs:restriction base="xs:string"><xs:pattern value="[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/></xs:restriction></xs:simpleType>
          <xs:simpleType name="code"><xs:restriction base="xs:string"><xs:pattern value="[A-Z0-9]{6,7}"/></xs:restriction></xs:simpleType>
          <xs:complexType name="info">
            <xs:sequence>
              <xs:element name="deviceId" type="xs:base64Binary"/>
              <xs:element name="deviceType" type="xs:string" minOccurs="0"/>
              <xs:element name="deviceUser" type="xs:string" minOccurs="0"/>
              <xs:element name="appId" type="xs:string" minOccurs="0"/>
              <xs:element name="appVersion" type="xs:string" minOccurs="0"/>
              <xs:element name="registrationURL" type="xs:anyURI" minOccurs="0"/>
            </xs:sequence>
          </xs:complexType>
          <xs:complexType name="regcode">
            <xs:sequence>
              <xs:element name="id" type="r:uuid"/>
              <xs:element name="code" type="r:code"/>
              <xs:element name="requestor" type="xs:string"/>
              <xs:element name="mvpd" type="xs:string"/>
              <xs:element name="generated" type="xs:unsignedLong"/>
              <xs:element name="expires" type="xs:unsignedLong"/>
              <xs:element name="info" type="r:info"/>
            </xs:sequence>
          </xs:complexType>
          <xs:element name="regcode" type="r:regcode"/>
        </xs:schema>
        """
}
